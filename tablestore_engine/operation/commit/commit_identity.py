"""Commit identities: the user and identifier by which a commit that was made already is found."""

from __future__ import annotations

import itertools
import os
import uuid
from dataclasses import dataclass, replace

from tablestore_engine.errors import CommitIdentityError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.options import CoreOptions
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore

_PROCESS = uuid.uuid4().hex
_identifiers = itertools.count(1)


_DEFAULT_USER = "tablestore"
_MAX_IDENTIFIER = 2**63 - 1


@dataclass(frozen=True)
class CommitIdentity:
    """The committing user and the number of the commit; the same pair is never committed twice.

    `check_duplicate`: a caller chose it, so that a write which is sent again is not applied again. The identifiers of
    such a user grow.
    """

    user: str
    identifier: int
    check_duplicate: bool = False

    def sent_again(self) -> CommitIdentity:
        """This identity for a second attempt: the first one, whose answer was lost, may have been applied."""
        return replace(self, check_duplicate=True)


def chosen_identity(user: str | None, identifier: int | None) -> CommitIdentity | None:
    """The identity that a caller gives to a write; None when it gives none.

    Raises:
        CommitIdentityError: a user without an identifier, or an identifier that is not a number of 64 bits from 0.
    """
    if identifier is None:
        if user is None:
            return None
        raise CommitIdentityError(
            f"The commit user {user!r} has no commit identifier, so a repeated write could not be recognised.",
            hint="Give commit_identifier, too: a number that grows with each batch.",
        )
    if isinstance(identifier, bool) or not isinstance(identifier, int) or not 0 <= identifier <= _MAX_IDENTIFIER:
        raise CommitIdentityError(
            f"The commit identifier cannot be {identifier!r}: a whole number from 0 to 2^63 - 1 is expected."
        )
    if user is not None and not user:
        raise CommitIdentityError("The commit user is an empty text.", hint="Name the process that writes.")
    return CommitIdentity(user or _DEFAULT_USER, identifier, check_duplicate=True)


def applied_before(snapshots: SnapshotStore, identity: CommitIdentity | None) -> Snapshot | None:
    """The snapshot of a write that was sent before under the identity which its caller chose; None for a new one.

    Raises:
        CommitIdentityError: the user has committed a later write, and older snapshots have expired, so it is not known
            whether this one was applied.
    """
    if identity is None or not identity.check_duplicate:
        return None
    later: Snapshot | None = None
    oldest: Snapshot | None = None
    for one in snapshots.iter(newest_first=True):
        oldest = one
        if one.commit_user != identity.user or one.commit_kind == "COMPACT":
            continue
        if one.commit_identifier == identity.identifier:
            return one
        if later is None and one.commit_identifier > identity.identifier:
            later = one
    if later is not None and oldest is not None and oldest.id > 1:
        raise CommitIdentityError(
            f"Whether write {identity.identifier} of {identity.user!r} was applied is not known: its snapshot may have "
            f"expired, and write {later.commit_identifier} came after it.",
            hint="To apply it, send it with a greater identifier. 'snapshot.time-retained' keeps snapshots longer.",
        )
    return None


def new_identity(options: CoreOptions, work: str = "tablestore") -> CommitIdentity:
    """An identity that no other commit has. `work` becomes part of the snapshot's commit user."""
    user = f"{work}-{_PROCESS}-{os.getpid()}"
    prefix = options.commit_user_prefix
    return CommitIdentity(f"{prefix}_{user}" if prefix else user, next(_identifiers))
