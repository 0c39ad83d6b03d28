"""Where a stream is in a table: its *position*, up to which everything is read.

A *unit* is what one position can lead to at most without another one in between: the changes of a commit, or, at the
begin of a stream, all rows of a snapshot (the *whole* of it). A unit consists of *pieces* in a fixed order, and a
position may be between two of them. `mark` distinguishes the snapshot from one of the same number in a table
that was built anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tablestore_engine.metadata.snapshot import Snapshot

_ALL = -1


@dataclass(frozen=True)
class StreamPosition:
    """Everything up to and including a snapshot is read; of that snapshot's unit only `pieces`, unless they are all.

    `whole` says that the unit is the rows of the snapshot, not the changes of its commit.
    """

    snapshot: int
    mark: str = ""
    pieces: int = _ALL
    whole: bool = False

    @classmethod
    def after(cls, snapshot: Snapshot | None) -> StreamPosition:
        """The position where a snapshot is read completely; None is the empty table."""
        return cls(0) if snapshot is None else cls(snapshot.id, snapshot.mark)

    @classmethod
    def within(cls, snapshot: Snapshot, pieces: int, *, whole: bool = False) -> StreamPosition:
        """The position after some pieces of a snapshot's unit."""
        return cls(snapshot.id, snapshot.mark, pieces, whole)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StreamPosition:
        """The position of its persisted form. Raises KeyError, TypeError: it is none."""
        return cls(int(data["snapshot"]), str(data["mark"]), int(data["pieces"]), bool(data["whole"]))

    def to_dict(self) -> dict[str, Any]:
        """The persisted form, in which Spark and consumers keep it."""
        return asdict(self)

    @property
    def is_within(self) -> bool:
        """Whether a part of its unit is still to be read."""
        return self.pieces != _ALL

    def same_unit(self, other: StreamPosition) -> bool:
        """Whether another position is within the same unit."""
        return (self.snapshot, self.whole, self.is_within) == (other.snapshot, other.whole, other.is_within)
