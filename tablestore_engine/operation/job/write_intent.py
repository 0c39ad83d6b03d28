"""What the caller of a write specifies besides its rows: one value, from the SQL or API call to the write job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.operation.commit.identity import CommitIdentity


@dataclass(frozen=True)
class WriteIntent:
    """How rows are written, and what the snapshot says of it.

    Attributes:
        refuse_duplicates: a key that occurs twice in the rows is an error instead of an update.
        row_kinds: whether the rows of a new table must say their kind (`_row_kind`), or must not; None for either.
        properties: stored with the snapshot.
        identity: who commits; None for an identity that no other commit has.
    """

    refuse_duplicates: bool = False
    row_kinds: bool | None = None
    properties: Mapping[str, str] | None = None
    identity: CommitIdentity | None = None


PLAIN = WriteIntent()
UNIQUE = WriteIntent(refuse_duplicates=True)
