"""One commit: its retries, its identity, its failures, and what it leaves behind."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace

import pytest
from support.files import remove
from support.invariants import check_invariants
from support.tables import (
    DELETE,
    PUT,
    arrow_rows,
    by_key,
    compact,
    compact_newest,
    identity,
    keyed_table,
    new_job,
    read,
    write,
)

from tablestore_engine.errors import (
    CommitOutcomeUnknownError,
    CommitTimeoutError,
    ConflictError,
    StorageError,
)
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore


def added(table, *numbers):
    """ADD entries of files that hold these ids."""
    return tuple(write_table(new_job(table), arrow_rows(table.schema, [{"id": n, "v": n} for n in numbers])).entries)


def committer(table, *, snapshots=None, io=None, **kwargs):
    """A committer of a table whose snapshots, or whose other files, are in another store."""
    slept = []
    state = replace(table.state, io=io or table.io, snapshots=snapshots or table.snapshot_store)
    made = Committer(state, sleep=slept.append, jitter=lambda: 0.5, **kwargs)
    return made, slept


def manifests(table):
    return set(os.listdir(table.paths.manifest_dir)) if os.path.isdir(table.paths.manifest_dir) else set()


class Racing(SnapshotStore):
    """Lets another writer win the first `losses` races."""

    def __init__(self, table, losses):
        super().__init__(table.io, table.paths)
        self.table, self.losses = table, losses

    def try_create(self, snapshot):
        if self.losses:
            self.losses -= 1
            write(self.table, [{"id": 1000 + self.losses, "v": 0}])
        return super().try_create(snapshot)


class Failing(SnapshotStore):
    """Storage that fails while the snapshot is created, before or after it is there."""

    def __init__(self, table, *, after):
        super().__init__(table.io, table.paths)
        self.after, self.path = after, table.paths

    def try_create(self, snapshot):
        if self.after:
            super().try_create(snapshot)
        raise StorageError(self.path.snapshot(snapshot.id), "connection lost")


def test_the_first_snapshot(table):
    made, _ = committer(table, now_millis=lambda: 123, new_id=lambda: "u")
    snapshot = made.commit(Change("APPEND", added(table, 1, 2)), CommitIdentity("me", 7), {"batch": "9"})
    assert (snapshot.id, snapshot.uuid, snapshot.time_millis) == (1, "u", 123)
    assert (snapshot.commit_user, snapshot.commit_identifier, snapshot.commit_kind) == ("me", 7, "APPEND")
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (2, 2)
    assert table.latest_snapshot() == snapshot
    assert table.properties_of(table.snapshot(1)) == {"batch": "9"}


def test_time_never_runs_backwards(table):
    committer(table, now_millis=lambda: 500)[0].commit(Change("APPEND", added(table, 1)), identity())
    later = committer(table, now_millis=lambda: 100)[0].commit(Change("APPEND", added(table, 2)), identity())
    assert later.time_millis == 500


def test_lost_races_are_run_again_on_the_new_state(table):
    made, slept = committer(table, snapshots=Racing(table, 3))
    snapshot = made.commit(Change("APPEND", added(table, 1)), identity())
    assert snapshot.id == 4
    assert set(by_key(table)) == {1, 1000, 1001, 1002}
    assert len(slept) == 3
    assert slept == sorted(slept)
    check_invariants(table)


def test_retries_are_bounded(tmp_path):
    table = keyed_table(tmp_path, {"commit.max-retries": "2"})
    entries = added(table, 1)
    made, slept = committer(table, snapshots=Racing(table, 100))
    with pytest.raises(ConflictError, match="lost 3 races"):
        made.commit(Change("APPEND", entries), identity())
    assert len(slept) == 3
    assert 1 not in by_key(table)


def test_pauses_are_as_long_as_the_options_say(tmp_path):
    options = {"commit.min-retry-wait": "2 s", "commit.max-retry-wait": "5 s", "commit.max-retries": "4"}
    table = keyed_table(tmp_path, options)
    entries = added(table, 1)
    made, slept = committer(table, snapshots=Racing(table, 4))
    made.commit(Change("APPEND", entries), identity())
    assert slept == [2, 4, 5, 5]


@pytest.mark.parametrize(("timeout", "races"), [("25 s", 3), ("0 s", 1)])
def test_retries_stop_when_the_time_is_up(tmp_path, timeout, races):
    options = {"commit.timeout": timeout, "commit.max-retries": "100"}
    table = keyed_table(tmp_path, options)
    entries = added(table, 1)
    # The clock is read twice in each attempt: for its snapshot, and to see whether time is left.
    ticks = itertools.count(0, 5_000)
    made, slept = committer(table, snapshots=Racing(table, 100), now_millis=lambda: next(ticks))
    statements = []

    def statement():
        statements.append(1)
        return made.commit(Change("APPEND", entries), identity())

    with pytest.raises(CommitTimeoutError, match=f"lost {races} race.*commit.timeout"):
        with_retry(statement)
    assert len(statements) == 1, "the statement has no more time than its commit"
    assert len(slept) == races - 1
    assert 1 not in by_key(table)


def test_lost_races_leave_no_manifests(table):
    write(table, [{"id": 5, "v": 0}])
    made, _ = committer(table, snapshots=Racing(table, 2))
    made.commit(Change("APPEND", added(table, 1)), identity())
    named = set()
    for snapshot in table.snapshots():
        for name in (snapshot.base_manifest_list, snapshot.delta_manifest_list):
            named |= {name, *(m.file_name for m in table.manifests.read_list(name))}
    assert manifests(table) == named


def test_the_same_identity_commits_once(table):
    again = CommitIdentity("loader", 1, check_duplicate=True)
    change = Change("APPEND", added(table, 1))
    first = committer(table)[0].commit(change, again)
    write(table, [{"id": 2, "v": 2}])
    assert committer(table)[0].commit(change, again).id == first.id
    assert len(table.snapshots()) == 2
    other = committer(table)[0].commit(Change("APPEND", added(table, 3)), CommitIdentity("loader", 2, True))
    assert other.id == 3


def test_an_own_snapshot_that_looked_lost_is_found_on_the_next_attempt(table):
    class Lying(SnapshotStore):
        def try_create(self, snapshot):
            super().try_create(snapshot)
            return False

    made, _ = committer(table, snapshots=Lying(table.io, table.paths))
    assert made.commit(Change("APPEND", added(table, 1)), identity()).id == 1
    assert len(table.snapshots()) == 1


def test_an_unknown_outcome_removes_nothing(table):
    write(table, [{"id": 5, "v": 0}])
    before = manifests(table)
    made, _ = committer(table, snapshots=Failing(table, after=False))
    with pytest.raises(CommitOutcomeUnknownError, match="snapshot 2"):
        made.commit(Change("APPEND", added(table, 1)), identity())
    assert len(manifests(table) - before) == 3
    assert set(by_key(table)) == {5}


def test_a_failure_after_the_snapshot_is_there_is_a_success(table):
    made, _ = committer(table, snapshots=Failing(table, after=True))
    assert made.commit(Change("APPEND", added(table, 1)), identity()).id == 1
    assert set(by_key(table)) == {1}


def test_a_failure_before_the_snapshot_cleans_up(table):
    write(table, [{"id": 5, "v": 0}])
    before = manifests(table)
    entries = added(table, 1)

    class Full(LocalFileIO):
        def write(self, path, data):
            if "manifest-list" in path:
                raise StorageError(path, "no space left")
            super().write(path, data)

    made, _ = committer(table, io=Full())
    with pytest.raises(StorageError, match="no space"):
        made.commit(Change("APPEND", entries), identity())
    assert manifests(table) == before


def test_conflicts_leave_nothing(table):
    write(table, [{"id": 5, "v": 0}])
    (old,) = table.live_files()
    entries = added(table, 1)
    write(table, [{"id": 5, "v": 1}], kind="OVERWRITE", replaces=lambda entry: True)
    before = manifests(table)
    with pytest.raises(ConflictError):
        committer(table)[0].commit(Change("OVERWRITE", entries, (remove(old),)), identity())
    assert manifests(table) == before
    assert len(table.snapshots()) == 2


@pytest.mark.parametrize("start", [0, 1])
def test_a_change_that_read_the_table_conflicts_with_what_came_after(table, start):
    if start:
        write(table, [{"id": 5, "v": 0}])
    entries = added(table, 5)
    write(table, [{"id": 6, "v": 1}])
    with pytest.raises(ConflictError, match=f"Snapshot {start + 1} changed rows"):
        committer(table)[0].commit(Change("APPEND", entries, read_snapshot=start), identity())


def test_a_write_that_a_row_level_change_overtook_conflicts(table):
    """Else an UPDATE that never saw the row would win over it, by its later number."""
    write(table, [{"id": 1, "v": 0}])
    slow = added(table, 1)
    change = write_table(new_job(table, sequence=1_000), arrow_rows(table.schema, [{"id": 1, "v": 7}]))
    committer(table)[0].commit(Change("APPEND", tuple(change.entries), read_snapshot=1), identity())
    assert table.latest_snapshot().properties == {"tablestore.read-snapshot": "1"}
    with pytest.raises(ConflictError, match="without knowing"):
        committer(table)[0].commit(Change("APPEND", slow, base_snapshot_id=1), identity())
    again = write_table(new_job(table), arrow_rows(table.schema, [{"id": 1, "v": 9}]))
    committer(table)[0].commit(Change("APPEND", tuple(again.entries), base_snapshot_id=2), identity())
    assert by_key(table)[1]["v"] == 9


@pytest.mark.parametrize("options", [{}, {"sequence.field": "v"}], ids=["by arrival", "by a column"])
def test_a_write_conflicts_when_newer_deletes_were_dropped(tmp_path, options):
    """Else of two writes that overlap each would show some rows: the one that was deleted, and those that are newer."""
    table = keyed_table(tmp_path, options)
    write(table, [{"id": 0, "v": 0}, {"id": 9, "v": 0}])
    rows = arrow_rows(table.schema, [{"id": 1, "v": 1}, {"id": 2, "v": 1}])
    slow = Change("APPEND", tuple(write_table(new_job(table, sequence=100), rows).entries), base_snapshot_id=1)
    newer = [{"id": 1, "v": 2}, {"id": 2, "v": 2}]
    write(table, newer, [DELETE, PUT], job=new_job(table, sequence=101))
    assert compact(table) is not None
    if options:  # such a delete outlives compactions
        committer(table)[0].commit(slow, identity())
        assert {k: row["v"] for k, row in by_key(table).items()} == {0: 0, 2: 2, 9: 0}
        return
    with pytest.raises(ConflictError, match="Snapshot 3 dropped deletes"):
        committer(table)[0].commit(slow, identity())
    again = Change("APPEND", tuple(write_table(new_job(table), rows).entries), base_snapshot_id=3)
    committer(table)[0].commit(again, identity())
    assert {k: row["v"] for k, row in by_key(table).items()} == {0: 0, 1: 1, 2: 1, 9: 0}


def test_a_write_fits_when_newer_deletes_were_merged_and_kept(table):
    write(table, [{"id": n, "v": 0} for n in range(9)])
    rows = arrow_rows(table.schema, [{"id": 1, "v": 1}])
    slow = Change("APPEND", tuple(write_table(new_job(table, sequence=100), rows).entries), base_snapshot_id=1)
    for number, kind in ((101, DELETE), (102, PUT)):
        write(table, [{"id": 1 if kind else 2, "v": 2}], [kind], job=new_job(table, sequence=number))
    assert compact_newest(table, 2) is not None
    assert len(table.live_files()) == 2
    committer(table)[0].commit(slow, identity())
    assert 1 not in by_key(table)


def test_a_write_that_another_blind_one_overtook_does_not(table):
    slow = added(table, 1)
    write(table, [{"id": 1, "v": 0}], job=new_job(table, sequence=1_000))
    committer(table)[0].commit(Change("APPEND", slow, base_snapshot_id=0), identity())
    assert by_key(table)[1]["v"] == 0


def test_a_write_that_newer_deletes_overtook_conflicts_once_they_are_merged(table):
    """Otherwise its row would be visible again, because the delete that hides it is removed."""
    write(table, [{"id": 1, "v": 0}])
    slow, slower = added(table, 1), added(table, 2)
    write(table, [{"id": 1, "v": 0}], [DELETE], job=new_job(table, sequence=1_000))
    committer(table)[0].commit(Change("APPEND", slow, base_snapshot_id=1), identity())
    assert read(table) == []
    assert compact(table).id == 4
    with pytest.raises(ConflictError, match="Snapshot 4 dropped deletes"):
        committer(table)[0].commit(Change("APPEND", slower, base_snapshot_id=1), identity())
    committer(table)[0].commit(Change("APPEND", added(table, 2), base_snapshot_id=4), identity())
    assert set(by_key(table)) == {2}


def test_a_compaction_in_between_is_no_conflict(table):
    for n in (1, 2, 3):
        write(table, [{"id": n, "v": 0}])
    entries = added(table, 9)
    assert compact(table).id == 4
    assert committer(table)[0].commit(Change("APPEND", entries, read_snapshot=3), identity()).id == 5


def test_a_change_of_other_buckets_is_no_conflict(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "4"})
    write(table, [{"id": n, "v": 0} for n in range(20)])
    buckets = {(e.partition, e.bucket) for e in table.live_files()}
    write(table, [{"id": 3, "v": 1}])
    (written,) = {(e.partition, e.bucket) for e in table.live_files() if e.file.level == 0}
    entries = added(table, 3)
    change = Change("APPEND", entries, read_snapshot=1, read_buckets=frozenset(buckets - {written}))
    assert committer(table)[0].commit(change, identity()).id == 3
    with pytest.raises(ConflictError):
        committer(table)[0].commit(replace(change, read_buckets=frozenset({written})), identity())


def test_overwrite_removes_what_is_live_when_it_commits(table):
    write(table, [{"id": 1, "v": 0}])
    job = new_job(table, into_empty=True)
    write(table, [{"id": 2, "v": 0}])
    snapshot = write(table, [{"id": 3, "v": 0}], job=job, kind="OVERWRITE", replaces=lambda entry: True)
    assert read(table) == [{"id": 3, "v": 0}]
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (1, -1)
    assert [row["id"] for row in read(table, snapshot=table.snapshot(2))] == [1, 2]


def test_two_bulk_loads_into_an_empty_bucket(table):
    first, second = added(table, 1, 3), added(table, 2, 4)
    committer(table)[0].commit(Change("APPEND", first), identity())
    committer(table)[0].commit(Change("APPEND", second), identity())
    assert sorted(e.file.level for e in table.live_files()) == [0, 5]
    assert set(by_key(table)) == {1, 2, 3, 4}
    check_invariants(table)


def test_small_manifests_are_merged(tmp_path):
    table = keyed_table(tmp_path, {"manifest.merge-min-count": "4"})
    for n in range(15):
        write(table, [{"id": n % 3, "v": n}])
        latest = table.latest_snapshot()
        names = table.manifests.read_list(latest.base_manifest_list)
        assert len(names) < 4
        if n == 9:
            compact(table)
    assert by_key(table)[2]["v"] == 14
    check_invariants(table)
    for snapshot in table.snapshots():
        assert read(table, snapshot=snapshot), "old snapshots keep their manifests"


def test_big_manifests_are_split(tmp_path):
    options = {"manifest.target-file-size": "2 kb", "manifest.merge-min-count": "3", "bucket": "64"}
    table = keyed_table(tmp_path, options)
    for start in range(6):
        write(table, [{"id": n, "v": start} for n in range(200)])
    assert len(table.manifests.read_list(table.latest_snapshot().base_manifest_list)) > 1
    assert {row["v"] for row in read(table)} == {5}
    compact(table)
    check_invariants(table)
    assert len(table.live_files()) == len({e.bucket for e in table.live_files()})


def test_many_retries_do_not_read_the_whole_history(table, monkeypatch):
    for n in range(12):
        write(table, [{"id": n, "v": 0}])
    made, _ = committer(table, snapshots=Racing(table, 2))
    loaded = []
    monkeypatch.setattr(made.snapshots, "load", lambda i, load=made.snapshots.load: loaded.append(i) or load(i))
    made.commit(Change("APPEND", added(table, 99)), identity())
    assert min(loaded) >= 12
