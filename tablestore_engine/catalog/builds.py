"""Tables that are visible while they are filled, and dropped when that fails: CREATE TABLE AS with `rollback`.

A *build* is recorded in the warehouse before its table appears, and the table bears the build's *mark*. Every process
that opens the catalog settles the builds whose owner is dead: a table is complete if the build's commit is there, and
is dropped if not. Which one is decided once: before that, the build is revoked, and the snapshot is taken that its
owner, if it is only slow, would create next. A table in which others have committed rows meanwhile is never dropped.

Invariant: nothing is dropped that does not bear the mark of a build that failed.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tablestore_engine.errors import ConflictError, StorageError, TableStoreError
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.metadata.warehouse.build_record import BuildRecord
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.compact.scheduled_run import beating, fence_off
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.build_record_store import BuildRecordStore
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore
from tablestore_engine.storage.paths import TablePaths, WarehousePaths
from tablestore_engine.storage.processes import is_running, this_process
from tablestore_engine.table import Table

LEASE_MILLIS = 60_000
_BEATS_PER_LEASE = 4
_log = logging.getLogger(__name__)
_running_here: set[str] = set()


@dataclass(frozen=True)
class Workshop:
    """The part of the catalog that builds need. `load` opens the table of a directory."""

    io: FileIO
    paths: WarehousePaths
    now_millis: Callable[[], int]
    load: Callable[[str, tuple[str, str]], Table]

    @property
    def records(self) -> BuildRecordStore:
        """The records of all builds."""
        return BuildRecordStore(self.io, self.paths)

    def table(self, record: BuildRecord) -> TablePaths:
        """Where the table of a build is visible."""
        return TablePaths(self.paths.table_dir(record.database, record.table))

    def hidden(self, record: BuildRecord) -> TablePaths:
        """Where it is before it appears, and while it is removed."""
        return TablePaths(self.paths.hidden_table_dir(record.database, record.table, record.id))


@dataclass(frozen=True)
class Build:
    """A build of this process: `table` is visible and empty."""

    shop: Workshop
    record: BuildRecord
    table: Table

    def check(self) -> None:
        """Raise ConflictError if the table is no longer this build's: it was dropped, or its owner taken for dead."""
        marked = self.shop.io.exists(self.table.paths.build_mark(self.record.id))
        if not marked or not self.shop.records.may_commit(self.record.id):
            raise _dropped(self.table)


@contextmanager
def completed_or_dropped(build: Build) -> Iterator[None]:
    """While the block fills the table, the build is alive; afterwards it is complete, or the table is dropped."""
    records, record, now_millis = build.shop.records, build.record, build.shop.now_millis
    every = record.lease_millis / 1000 / _BEATS_PER_LEASE
    try:
        try:
            with beating(lambda: records.beat(record.id, now_millis()), every):
                yield
        except BaseException:
            _give_up(build)
            raise
        _complete(build)
    finally:
        _running_here.discard(record.id)


def _complete(build: Build) -> None:
    io, table = build.shop.io, build.table
    if io.delete(table.paths.build_mark(build.record.id)):
        build.shop.records.remove(build.record.id)
        return
    if not io.exists(table.paths.schema_dir):
        io.delete_tree(table.path)  # files that were written after the table had been dropped
    raise _dropped(table)


def _give_up(build: Build) -> None:
    name, paths = build.table.name, build.table.paths
    try:
        dropped = _remove(build.shop, build.record, own_commit_keeps=False)
        if not dropped and build.shop.io.exists(paths.schema_dir):
            _log.warning("Table %s was not dropped: others have written to it meanwhile.", name)
    except TableStoreError as error:
        # The record stays, so the next process that opens the catalog drops the table.
        _log.warning("Table %s could not be dropped yet: %s", name, error)


def _dropped(table: Table) -> ConflictError:
    return ConflictError(f"Table {table.name} was dropped while it was filled.", hint="Run the statement again.")


def begin(
    shop: Workshop, stored: tuple[str, str], identity: CommitIdentity, stage: Callable[[str], Table]
) -> Build | None:
    """Record a build and show its empty table. None when another table has the name; nothing is left of the build.

    Args:
        shop: the catalog.
        stored: database and name of the table.
        identity: that of the commit which completes it.
        stage: makes the table in a directory.
    """
    owner, now = this_process(), shop.now_millis()
    record = BuildRecord(uuid.uuid4().hex, *stored, owner, identity.user, identity.identifier, now, LEASE_MILLIS)
    _running_here.add(record.id)
    try:
        shop.records.add(record)
        staged = stage(shop.hidden(record).root)
        shop.io.write(staged.paths.build_mark(record.id), b"")
        if shop.io.rename(staged.path, shop.table(record).root):
            return Build(shop, record, shop.load(shop.table(record).root, stored))
        _remove(shop, record, own_commit_keeps=False)
    except BaseException:
        with suppress(TableStoreError):
            _remove(shop, record, own_commit_keeps=False)
        _running_here.discard(record.id)
        raise
    _running_here.discard(record.id)
    return None


def settle_abandoned(shop: Workshop) -> None:
    """Complete or drop the tables of builds whose owners are dead; leave those that cannot be settled now."""
    with suppress(TableStoreError):
        for record in shop.records.all():
            with suppress(TableStoreError):
                running = _is_running(record)
                if record.is_abandoned(running, shop.records.seen_millis(record.id), shop.now_millis()):
                    _settle(shop, record, fenced=running is not None)


def _is_running(record: BuildRecord) -> bool | None:
    if record.owner == this_process():
        return record.id in _running_here
    return is_running(record.owner)


def _settle(shop: Workshop, record: BuildRecord, *, fenced: bool) -> None:
    """Finish a build instead of its owner. `fenced`: the owner is known to be dead, so it cannot commit any more."""
    shop.records.revoke(record.id)
    paths = shop.table(record)
    if not fenced and shop.io.exists(paths.build_mark(record.id)):
        fence_off(shop.load(paths.root, (record.database, record.table)).state)
    if _remove(shop, record, own_commit_keeps=True):
        _log.warning(
            "Table %s.%s was dropped: the statement that filled it did not finish.", record.database, record.table
        )


def _remove(shop: Workshop, record: BuildRecord, *, own_commit_keeps: bool) -> bool:
    """Drop the table of a build unless it has commits that keep it. Afterwards the build is settled."""
    paths = shop.table(record)
    dropped = False
    if shop.io.exists(paths.build_mark(record.id)):
        kept = _is_kept(shop, paths, record, own_commit_keeps)
        dropped = not kept and _drop(shop, record, own_commit_keeps)
        if not dropped:
            shop.io.delete(paths.build_mark(record.id))
    shop.io.delete_tree(shop.hidden(record).root)
    shop.records.remove(record.id)
    return dropped


def _drop(shop: Workshop, record: BuildRecord, own_commit_keeps: bool) -> bool:
    paths, hidden = shop.table(record), shop.hidden(record)
    try:
        if not shop.io.rename(paths.root, hidden.root):
            return False
    except StorageError as error:
        if error.missing:
            return True  # another process dropped it
        raise
    # Looked at again where nobody finds it: others may have committed, or made a table of this name, in between.
    if not shop.io.exists(hidden.build_mark(record.id)) or _is_kept(shop, hidden, record, own_commit_keeps):
        shop.io.rename(hidden.root, paths.root)
        return False
    shop.io.delete_tree(hidden.root)
    return True


def _is_kept(shop: Workshop, paths: TablePaths, record: BuildRecord, own_commit_keeps: bool) -> bool:
    build = (record.commit_user, record.commit_identifier)
    return keeps_table(list(SnapshotStore(shop.io, paths).iter()), build, own_commit_keeps)


def keeps_table(snapshots: Sequence[Snapshot], build: tuple[str, int], own_commit_keeps: bool) -> bool:
    """Whether a table stays, whose build ended: others have committed to it, or the build's own commit counts.

    It also stays if its first snapshots have expired, since many must have come after them.
    """
    if snapshots and snapshots[0].id > 1:
        return True
    commits = {(s.commit_user, s.commit_identifier) for s in snapshots if s.commit_kind not in NO_ROWS}
    return bool(commits - {build}) or (own_commit_keeps and build in commits)
