"""Groups of writes that count together, although each of them is a commit.

A *write group* begins with a commit without rows that sets the unfinished mark; its writes carry the mark on, and each
fails when the mark is another group's. The last commit, again without rows, removes the mark and says which changes of
other tables were used. A process that dies in between leaves the mark, and the next group of the table restores the
rows of the first commit before it reads up to where they were computed. So rows and position always fit, whichever of
the statements ran.

The alternatives: a position that comes with the first write loses the rows of the others, one that comes with the last
write makes the first ones count twice, and writes that are recognised and left out when they are sent again would have
to be the same ones, of a query that reads more changes by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tablestore_engine.errors import NotFoundError
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import NO_MARK, Consumed, Position, concerning, mark_of
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.operation.history.rollback import roll_back
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.storage.metadata_files.consumer_store import delete_consumer, set_consumer
from tablestore_engine.table_state import TableState

_CONSUMER = "tablestore-unfinished"
_BEGUN, _ANEW = 1, 2


@dataclass(frozen=True)
class WriteGroup:
    """A group of a table. `name` begins the committing user of each of its writes."""

    table: str
    name: str

    def begins(self) -> Consumed:
        """The message of the first commit: no other group is unfinished."""
        return Consumed(self.table, NO_MARK, Position(_BEGUN, self.name), marks=True)

    def replaces(self) -> Consumed:
        """The message of a write that makes the table anew, from which the group goes on."""
        return Consumed(self.table, None, Position(_ANEW, self.name), marks=True)

    def goes_on(self, *, anew: bool) -> Consumed:
        """The message of each further write."""
        mark = Position(_ANEW if anew else _BEGUN, self.name)
        return Consumed(self.table, mark, mark, marks=True)

    def ends(self, *, anew: bool) -> Consumed:
        """The message of the last commit."""
        return Consumed(self.table, Position(_ANEW if anew else _BEGUN, self.name), NO_MARK, marks=True)

    def identity(self, step: str) -> CommitIdentity:
        """That of a commit without rows, which may be sent again."""
        return CommitIdentity(f"{self.name}-{step}", 1).sent_again()


def is_unfinished(state: TableState) -> bool:
    """Whether a group of the table has not ended."""
    return mark_of(state.snapshots.latest()) != NO_MARK


def begin_group(state: TableState, group: WriteGroup, *, anew: bool = False) -> None:
    """Set the mark, and keep the snapshot from which the rows can be restored: with all of them, also those that a
    killed write left for a compaction to make readable.

    With `anew` the group will replace all rows, so it also follows one that cannot be undone.
    Raises ConsumedElsewhereError when another group is unfinished.
    """
    begins = group.replaces() if anew else group.begins()
    intent = WriteIntent(identity=group.identity("begins"), consumed=(begins,))
    merge_unread(state)
    latest = state.snapshots.latest()
    if mark_of(latest) == NO_MARK:
        set_consumer(state.io, state.paths, _CONSUMER, latest.id if latest else 1)
    follow(publish_change(state, Change("APPEND"), intent))


def finish_group(state: TableState, group: WriteGroup, consumed: tuple[Consumed, ...], *, anew: bool) -> None:
    """Remove the mark, and say up to where the changes of other tables were used.

    Raises ConsumedElsewhereError when another run undid the group, or used the changes.
    """
    intent = WriteIntent(identity=group.identity("ends"), consumed=(group.ends(anew=anew), *consumed))
    # Of a table that was made anew, the position of the old rows does not count.
    follow(publish_change(state, Change("OVERWRITE" if anew else "APPEND"), intent))
    delete_consumer(state.io, state.paths, _CONSUMER)


@contextmanager
def forgotten_group(state: TableState, intent: WriteIntent) -> Iterator[WriteIntent]:
    """The intent of a write that makes the table anew: an unfinished group of the rows that it replaces is forgotten.

    A write that belongs to a group itself carries the mark of that one.
    """
    if any(one.marks for one in concerning(state.name, intent.consumed)):
        yield intent
        return
    unfinished = is_unfinished(state)
    yield replace(intent, consumed=(*intent.consumed, Consumed(state.name, None, NO_MARK, marks=True)))
    if unfinished:
        delete_consumer(state.io, state.paths, _CONSUMER)


def undo_unfinished(state: TableState) -> str:
    """Restore the rows that a table had before a group that was not finished.

    Returns why that cannot be done, or nothing. Raises ConflictError when others change the table meanwhile.
    """
    latest = state.snapshots.latest()
    mark = mark_of(latest)
    if latest is None or mark == NO_MARK:
        return ""
    if mark.snapshot == _ANEW:
        return "a run ended while it built the table anew"
    try:
        marked = list(_marked(state, latest, mark))
    except NotFoundError:
        return "a run ended between two of its statements, and the snapshot before them has expired"
    others = [one.id for one in marked if not _is_in_group(one, mark.mark)]
    if others:
        return f"a run ended between two of its statements, and snapshot {others[-1]} changed rows after that"
    end = Consumed(state.name, mark, NO_MARK, marks=True)
    done = roll_back(state, marked[-1], (end,))
    if done is not None:
        follow(done)
    else:  # no rows to restore
        follow(publish_change(state, Change("APPEND"), WriteIntent(consumed=(end,))))
    delete_consumer(state.io, state.paths, _CONSUMER)
    return ""


def _marked(state: TableState, latest: Snapshot, mark: Position) -> Iterator[Snapshot]:
    """The snapshots of a group, the newest first. Raises NotFoundError when its first one has expired."""
    one = latest
    yield one
    while one.commit_user != f"{mark.mark}-begins":
        one = state.snapshots.load(one.id - 1)
        yield one


def _is_in_group(snapshot: Snapshot, group: str) -> bool:
    user = snapshot.commit_user
    return snapshot.commit_kind in NO_ROWS or user == group or user.startswith(f"{group}-")
