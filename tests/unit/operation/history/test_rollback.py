"""Rolling back: the rows of then are those of now, in one step, and nobody else is hurt by it."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.meanwhile import ActingOnce, running
from support.tables import (
    DELETE,
    by_key,
    compact,
    identity,
    new_job,
    partitioned_table,
    read,
    reload,
    row,
    schema_of,
    write,
)

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError, SnapshotNotFound, StorageError, TagNotFound, UserError
from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry
from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.operation.commit.replace_table import next_schema, replace_all, schema_publisher
from tablestore_engine.operation.commit.restore_files import entries_to_restore
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.history.rollback import ROLLED_BACK_TO, roll_back
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.metadata_files import manifest_store

ALL_BUT_ONE = Retention(1, 1, 0, 1_000)


@pytest.fixture
def table(tmp_path):
    return partitioned_table(tmp_path, {"bucket": "2", "write-only": "true"})


def shown(table):
    return sorted(map(str, read(table)))


def fill(table):
    """Five snapshots: rows, more, what a compaction makes of them, a deletion, another partition."""
    write(table, [row(n, 0) for n in range(5)])
    write(table, [row(n, 1) for n in range(2, 7)])
    compact(table)
    write(table, [row(0, 0), row(3, 0)], [DELETE, DELETE])
    write(table, [row(9, 9, "b")])


@pytest.mark.parametrize("to", [1, 2, 3, 4])
def test_the_rows_of_each_snapshot_come_back(table, to):
    fill(table)
    wanted = sorted(map(str, read(table, snapshot=table.snapshot(to))))
    before = data_files(table)
    snapshot = table.roll_back(to)
    assert (snapshot.id, snapshot.commit_kind, snapshot.properties) == (
        6,
        "OVERWRITE",
        {ROLLED_BACK_TO: str(to)},
    )
    assert shown(table) == wanted
    check_invariants(table)
    assert before <= data_files(table), "no file that others read is removed"
    for one in table.snapshots():
        assert live_paths(table, one) <= data_files(table)
    write(table, [row(4, 44)])
    assert by_key(table)[4]["v"] == 44, "writes go on above what came back"


def test_it_can_be_undone(table):
    fill(table)
    now = shown(table)
    table.roll_back(1)
    assert shown(table) != now
    assert table.roll_back(5).id == 7
    assert shown(table) == now
    assert table.roll_back(5) is None, "it has these rows already"
    assert table.roll_back(7) is None
    assert table.latest_snapshot().id == 7


def test_files_that_are_still_live_are_not_copied(table):
    fill(table)
    files = data_files(table)
    table.roll_back(4)
    assert data_files(table) == files
    table.roll_back(1)
    assert len(data_files(table)) > len(files)


@pytest.mark.parametrize("to", [1, 2, 3, 4])
def test_restored_files_outlive_expiration(table, to):
    """A file that left the table never comes back under its name, or expiration would take it away."""
    fill(table)
    wanted = sorted(map(str, read(table, snapshot=table.snapshot(to))))
    table.create_tag("then", to)
    table.roll_back("then")
    table.delete_tag("then")
    for keep in (4, 2, 1):
        table.expire_snapshots(Retention(1, keep, 0, 1_000))
        manifest_store._cache.clear()
        assert shown(table) == wanted
        check_invariants(table)
    assert data_files(table) == live_paths(table)


def test_back_to_a_tag_whose_snapshot_has_expired(table):
    write(table, [row(1, 1)])
    table.create_tag("first")
    write(table, [row(1, 2)])
    compact(table)
    table.expire_snapshots(ALL_BUT_ONE)
    assert table.roll_back("first").id == 4
    assert by_key(table) == {1: row(1, 1)}
    table.delete_tag("first")
    table.expire_snapshots(ALL_BUT_ONE)
    manifest_store._cache.clear()
    assert by_key(table) == {1: row(1, 1)}
    assert data_files(table) == live_paths(table)


def test_missing_snapshots_are_refused(table):
    with pytest.raises(SnapshotNotFound, match="no snapshots yet"):
        table.roll_back(1)
    write(table, [row(1, 1)])
    with pytest.raises(SnapshotNotFound, match="only 1"):
        table.roll_back(7)
    with pytest.raises(TagNotFound):
        table.roll_back("nothing")


def test_columns_that_were_added_stay(table):
    write(table, [row(1, 1)])
    catalog = Catalog(os.path.dirname(os.path.dirname(table.path)))
    table = catalog.alter_table("default", "t", [AddColumn("w", parse_type("INT"))])
    write(table, [{**row(1, 2), "w": 5}])
    table.roll_back(1)
    assert read(reload(table)) == [{**row(1, 1), "w": None}]
    check_invariants(reload(table))


@pytest.mark.parametrize("partitioned", [True, False])
def test_back_across_a_replacement(table, partitioned):
    """The columns of then come back with the rows of then."""
    write(table, [row(1, 1), row(2, 2, "b")])
    columns = {"p": "STRING", "x": "INT"} if partitioned else {"x": "INT"}
    wanted = schema_of(columns, [], ["p"] if partitioned else [])
    schema = next_schema(table.schema, wanted, 0)
    publisher = schema_publisher(table.schemas, table.schema, schema)
    Committer(table.state.with_schema(schema)).commit(
        replace_all(table.schema, schema), identity(), new_schema=publisher
    )
    replaced = reload(table)
    assert replaced.schema.field_names == tuple(columns)
    stale = new_job(replaced)
    replaced.roll_back(1)
    again = reload(table)
    assert again.schema.field_names == ("p", "id", "v")
    assert again.schema.id == 2
    assert sorted(by_key(again)) == [1, 2]
    check_invariants(again)
    write(again, [row(3, 3)])
    assert sorted(by_key(reload(table))) == [1, 2, 3]
    with pytest.raises(ConflictError, match="replaced by another one"):
        write(replaced, [{"x": 1}], job=stale)
    assert again.roll_back(2).id == 5
    assert reload(table).schema.field_names == tuple(columns)
    reload(table).expire_snapshots(ALL_BUT_ONE)
    reload(table).remove_orphan_files(2**60)  # of the write that conflicted
    assert data_files(table) == set()


def test_the_number_of_buckets_comes_back_too(table):
    write(table, [row(n, n) for n in range(9)])
    fields = tuple(replace(one, type=one.type.as_nullable(False)) for one in table.schema.fields)
    stricter = {"bucket": "3", "constraint.check.positive": "v > 0"}
    schema = replace(table.schema, id=1, fields=fields, options={**table.schema.options, **stricter})
    assert table.schemas.try_create(schema)
    rescaled = reload(table)
    job = new_job(rescaled, into_empty=True)
    write(rescaled, [row(n, n) for n in range(9)], job=job, kind="OVERWRITE", replaces=lambda entry: True)
    assert {e.total_buckets for e in rescaled.live_files()} == {3}
    rescaled.roll_back(1)
    again = reload(table)
    assert again.options.bucket == 2
    assert "constraint.check.positive" not in again.schema.options  # there was none for the rows of then
    assert again.schema.field("v").type.nullable
    write(again, [row(n, -n) for n in range(9)])
    assert {one["v"] for one in read(again)} == {-n for n in range(9)}
    check_invariants(again)


class Copying(ActingOnce):
    """Does something once, right before the first file is copied; or fails there."""

    def open_output(self, path):
        self.act()
        return super().open_output(path)


def test_a_write_committed_before_is_undone_and_one_begun_before_is_committed_after(table):
    fill(table)
    waiting = new_job(table, sequence=1_000)
    other = reload(table)
    rolling = reload(table, Copying(lambda: write(other, [row(77, 77)])))
    assert roll_back(rolling.state, rolling.snapshot(1)).snapshot.id == 7
    assert sorted(by_key(table)) == [0, 1, 2, 3, 4]
    write(table, [row(88, 88)], job=waiting)
    assert sorted(by_key(table)) == [0, 1, 2, 3, 4, 88]


def test_a_row_level_change_that_read_before_conflicts(table):
    fill(table)
    job = new_job(table)
    table.roll_back(1)
    with pytest.raises(ConflictError, match="changed rows that this statement had read"):
        write(table, [row(1, 5)], job=job, read_snapshot=5)


def test_a_compaction_meanwhile_makes_it_start_over(table):
    """Then files that were to stay are removed, and must be copied too."""
    for n in range(4):
        write(table, [row(1, n, "ba"[n // 2])])
    wanted = shown(table)
    is_a = table.live_files()[-1].partition
    write(table, [], kind="OVERWRITE", replaces=lambda entry: entry.partition == is_a)
    other = reload(table)
    rolling = reload(table, Copying(lambda: compact(other)))
    with pytest.raises(ConflictError, match="is no longer part of the table"):
        roll_back(rolling.state, rolling.snapshot(4))
    assert roll_back(rolling.state, rolling.snapshot(4)).snapshot.id == 7
    assert shown(table) == wanted
    check_invariants(table)
    assert live_paths(table) <= data_files(table)


def test_a_snapshot_that_expires_meanwhile_is_refused(table):
    write(table, [row(1, 1)])
    write(table, [row(1, 2)])
    compact(table)
    to, other = table.snapshot(1), reload(table)
    other.expire_snapshots(ALL_BUT_ONE)
    manifest_store._cache.clear()
    with pytest.raises(SnapshotNotFound, match="expired meanwhile"):
        roll_back(table.state, to)
    assert by_key(table) == {1: row(1, 2)}
    assert data_files(table) == live_paths(table)


def test_a_failure_leaves_no_copies(table):
    fill(table)
    before, now = data_files(table), shown(table)

    def fail():
        raise StorageError("x", "full")

    rolling = reload(table, Copying(fail))
    with pytest.raises(StorageError, match="full"):
        rolling.roll_back(1)
    assert data_files(table) == before
    assert shown(table) == now


def test_an_index_of_another_program_stops_it(table):
    fill(table)
    other = IndexEntry(table.live_files()[0].partition, 0, "BTREE", "index-x-0", 8, 1)
    indexed = replace(table.snapshot(1), index_manifest=table.manifests.write_index([other]))
    with pytest.raises(UserError, match=r"index of its files.*INSERT OVERWRITE"):
        roll_back(table.state, indexed)


def test_with_concurrent_writers_and_readers(table):
    """Each state that is seen is one that somebody committed."""
    write(table, [row(n, 0) for n in range(4)])
    table.create_tag("start")

    def look():
        values = {one["v"] for one in read(reload(table))}
        assert len(values) == 1, values

    with running(look, look):
        for n in range(1, 13):
            write(reload(table), [row(i, n) for i in range(4)])
            if n % 3 == 0:
                compact(reload(table))
            if n % 4 == 0:
                reload(table).roll_back("start")
    assert {one["v"] for one in read(table)} == {0}
    check_invariants(table)


def test_entries_to_restore(table):
    fill(table)
    live, wanted = table.live_files(), table.live_files(table.snapshot(4))
    assert [e.kind for e in entries_to_restore(live, wanted, frozenset())] == [1], "only the new partition goes"
    assert entries_to_restore(live, live, frozenset()) == []
    with pytest.raises(ConflictError):
        entries_to_restore(live, table.live_files(table.snapshot(1)), frozenset())
