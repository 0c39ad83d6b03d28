"""Tags whose maker was killed after their snapshot had expired, and what blocks expiration."""

from __future__ import annotations

import os
import time

import pyarrow as pa
import pytest
from support.expiring import ALL_BUT_ONE
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.logged import logged
from support.tables import by_key, compact, keyed_table, write

from tablestore_engine.errors import ConflictError, SnapshotNotFound, StorageError
from tablestore_engine.metadata.tag_lifetime import Lifetime, tag_of
from tablestore_engine.operation.expiration.dead_tags import is_dead
from tablestore_engine.operation.table_commands import after_commit
from tablestore_engine.operation.tags.tag_expire import expire_tags
from tablestore_engine.operation.tags.tags import replace_tag
from tablestore_engine.storage.metadata_files import manifest_store

OPTIONS = {"bucket": "1", "write-only": "true"}
AGES = 2**60


class Killed(BaseException):
    """The end of a process."""


@pytest.fixture
def table(tmp_path):
    return keyed_table(tmp_path, OPTIONS)


def fill(table):
    """Two snapshots more, of which the last needs no file of those before it."""
    write(table, [{"id": 1, "v": 1}, {"id": 2, "v": 1}])
    write(table, [{"id": 1, "v": 2}])
    compact(table)


def expire_and_be_killed(table, act, verb):
    """Do something to a tag, while its snapshot expires, and be killed once the tag's file is there."""
    store = table.tags
    plain = getattr(store, verb)

    def late(name, snapshot):
        assert table.expire_snapshots(ALL_BUT_ONE) > 0
        plain(name, snapshot)
        raise Killed

    setattr(store, verb, late)
    with pytest.raises(Killed):
        act()
    delattr(store, verb)
    manifest_store._cache.clear()


def needed(table):
    return {path for one in table.snapshots() for path in live_paths(table, one)}


def check_nothing_stops(table, *dead):
    assert [name for name, one in table.tags.all().items() if is_dead(table.state, one)] == [*dead]
    fill(table)
    assert table.expire_snapshots(ALL_BUT_ONE) == 3
    assert len(table.snapshots()) == 1
    table.remove_orphan_files(AGES)
    assert data_files(table) == needed(table)
    assert {row["v"] for row in by_key(table).values()} == {1, 2}
    check_invariants(table)


def test_a_killed_maker_of_a_tag_stops_nobody(table):
    fill(table)
    expire_and_be_killed(table, lambda: table.create_tag("dead", 1), "create")
    check_nothing_stops(table, "dead")
    with pytest.raises(SnapshotNotFound, match=r"'dead' is dead: its snapshot 1 expired.*sys.delete_tag"):
        table.version("dead")
    with pytest.raises(SnapshotNotFound, match="is dead"):
        table.roll_back("dead")
    table.delete_tag("dead")
    assert table.tags.names() == []


def test_a_killed_replacer_of_a_tag_stops_nobody(table):
    fill(table)
    table.create_tag("moved", 1)
    removed = table.snapshot(2)
    expire_and_be_killed(table, lambda: replace_tag(table.state, "moved", removed), "replace")
    check_nothing_stops(table, "moved")
    with pytest.raises(SnapshotNotFound, match="Snapshot 2 expired"):
        replace_tag(table.state, "moved", removed, Lifetime(0, 1))
    table.create_tag("living")
    with pytest.raises(SnapshotNotFound, match="Snapshot 2 expired"):
        replace_tag(table.state, "living", removed)
    replace_tag(table.state, "moved", table.latest_snapshot())
    assert table.to_arrow(snapshot=table.version("moved")).num_rows == 2


def test_dead_tags_go_when_their_time_is_over(table):
    fill(table)
    first = table.snapshot(1)
    table.expire_snapshots(ALL_BUT_ONE)
    table.tags.create("dead", tag_of(first, Lifetime(0, 5)))
    manifest_store._cache.clear()
    assert expire_tags(table.state, 6) == ["dead"]


def test_a_tag_next_to_a_dead_one_keeps_its_files(table):
    write(table, [{"id": 1, "v": 0}])
    removed = table.snapshot(1)
    write(table, [{"id": 2, "v": 0}])
    table.expire_snapshots(ALL_BUT_ONE)
    table.create_tag("living")
    table.tags.create("dead", removed)
    fill(table)
    manifest_store._cache.clear()
    table.expire_snapshots(ALL_BUT_ONE)
    table.remove_orphan_files(AGES)
    assert table.to_arrow(snapshot=table.version("living")).num_rows == 2
    table.delete_tag("living")
    assert data_files(table) == needed(table)


def test_a_tag_of_which_one_file_is_missing_is_reported(table):
    """It is not dead: what is left of it may be wanted."""
    fill(table)
    table.create_tag("torn", 1)
    table.expire_snapshots(ALL_BUT_ONE)
    os.remove(table.paths.manifest_list(table.version("torn").delta_manifest_list))
    manifest_store._cache.clear()
    fill(table)
    before = data_files(table)
    for action in (lambda: table.expire_snapshots(ALL_BUT_ONE), lambda: table.remove_orphan_files(AGES)):
        with pytest.raises(StorageError, match=r"'torn' needs it.*sys.delete_tag"):
            action()
    assert data_files(table) == before
    assert len(table.snapshots()) == 4
    table.delete_tag("torn")
    assert table.expire_snapshots(ALL_BUT_ONE) == 3
    table.remove_orphan_files(AGES)
    assert data_files(table) == needed(table)


def test_missing_metadata_is_no_other_process(table):
    for _ in range(2):
        fill(table)
    os.remove(table.paths.manifest_list(table.snapshot(2).delta_manifest_list))
    manifest_store._cache.clear()
    with pytest.raises(StorageError, match="manifest-list"):
        table.expire_snapshots(ALL_BUT_ONE)
    assert len(table.snapshots()) == 6


def written(table, v):
    return table.write(pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([v], pa.int32())}))


def test_an_obstacle_of_expiration_is_reported_once(tmp_path, caplog):
    options = {"bucket": "1", "snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    table = keyed_table(tmp_path, options)
    for v in range(3):
        written(table, v)
    assert len(table.snapshots()) == 1
    assert logged(caplog) == [], "nothing is wrong"
    os.makedirs(f"{table.path}/branch/branch-b")
    for v in range(3):
        written(table, v)
    assert len(table.snapshots()) > 3
    (message,) = logged(caplog)
    assert message.startswith("Old snapshots of table default.t were not removed after a commit: ")
    assert "of another program" in message
    os.removedirs(f"{table.path}/branch/branch-b")
    written(table, 9)
    assert len(table.snapshots()) == 1


def test_a_step_that_lost_a_race_is_nothing_to_warn_of(caplog):
    def lose():
        raise ConflictError("Others were faster.")

    after_commit.warned_of("Nothing was done", lose)
    assert logged(caplog) == []


def test_two_processes_expire_the_same(table):
    """The second process finds nothing to do, whatever it read before."""
    for _ in range(3):
        fill(table)
    load, done = table.snapshot_store.load, []

    def overtaken(number):
        found = load(number)
        if not done:
            done.append(number)
            assert table.expire_snapshots(ALL_BUT_ONE) == 8
            manifest_store._cache.clear()
        return found

    table.snapshot_store.load = overtaken
    assert table.expire_snapshots(ALL_BUT_ONE, int(time.time() * 1000)) == 0
    assert len(table.snapshots()) == 1
