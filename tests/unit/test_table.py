"""A table as metadata."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace

import pyarrow as pa
import pytest
from support.tables import DELETE, PUT, compact, make_table, read, write

from tablestore_engine.errors import ConflictError, OptionError, SnapshotNotFound
from tablestore_engine.operation.read.table_stats import TableStats
from tablestore_engine.schema.table.schema_changes import AddPartitionField, DropPartitionField


@pytest.fixture
def table(tmp_path):
    columns = {"p": "INT", "id": "INT", "v": "STRING"}
    return make_table(tmp_path, columns, ["p", "id"], ["p"], {"bucket": "2"})


def row(p, number, v="x"):
    return {"p": p, "id": number, "v": v}


def test_names_and_paths(table, tmp_path):
    assert (table.name, table.path) == ("default.t", f"{tmp_path}/default.db/t")
    with pytest.raises(TypeError):
        list(table)


def test_a_table_that_was_never_written(table):
    assert table.latest_snapshot() is None
    assert table.snapshots() == []
    assert table.live_files() == []
    assert table.statistics() == TableStats(0, 0, 0, None, 0, 0, 0)
    assert read(table) == []
    assert table.to_arrow().column_names == ["p", "id", "v"]
    with pytest.raises(SnapshotNotFound, match="no snapshots yet"):
        table.snapshot_at(5)
    with pytest.raises(SnapshotNotFound, match="no snapshots yet"):
        table.snapshot(1)


@pytest.mark.parametrize("key", ["bucket", "constraint.check.positive"])
def test_options_that_one_write_cannot_have(table, key):
    with pytest.raises(OptionError, match=f"'{key}' belongs to the table and cannot be set for one write"):
        table.with_options({key: "3"}, "write")


def test_statistics(table):
    write(table, [row(p, n) for p in (1, 2) for n in range(10)])
    first = table.latest_snapshot()
    found = table.statistics()
    assert (found.row_count, found.files, found.partitions, found.buckets, found.snapshots) == (
        20,
        4,
        2,
        2,
        1,
    )
    assert found.bytes == sum(e.file.file_size for e in table.live_files())
    assert found.last_modified_millis == first.time_millis
    write(table, [row(1, 0), row(1, 1)], [DELETE, DELETE])
    assert table.statistics().row_count == 18
    changed = table.latest_snapshot().time_millis
    compact(table)
    assert table.statistics().last_modified_millis == changed, "a compaction modifies nothing"
    assert table.statistics().row_count == 18


def test_an_updated_row_counts_once(table, monkeypatch):
    write(table, [row(1, n) for n in range(10)])
    write(table, [row(1, n) for n in range(5, 12)])
    write(table, [row(1, 0), row(1, 50)], [DELETE, DELETE])
    found = table.statistics()
    assert (found.row_count, found.row_count_exact, found.row_count_text) == (11, True, "11")
    # So many that they are not counted one by one, until a compaction has settled what belongs together.
    monkeypatch.setattr("tablestore_engine.operation.read.row_count.READ_ROWS", 5)
    found = table.statistics()
    assert (found.row_count, found.row_count_exact) == (10 + 7 + 2 - 2, False)
    assert found.row_count_text.endswith(" at most")
    compact(table)
    assert (table.statistics().row_count, table.statistics().row_count_exact) == (11, True)


def test_a_file_of_which_nobody_says_how_many_deletes_it_holds(table, monkeypatch):
    """As older versions of Paimon write them: such a file may hold some, although it is the only one."""
    write(table, [row(1, n) for n in range(10)], [PUT] * 7 + [DELETE] * 3)
    assert (table.statistics().row_count, table.statistics().row_count_exact) == (7, True)
    entries = [replace(e, file=replace(e.file, delete_row_count=None)) for e in table.live_files()]
    snapshot = table.latest_snapshot()
    delta, _ = table.manifests.write_list([table.manifests.write_manifest(entries)])
    older = replace(snapshot, delta_manifest_list=delta)
    table.io.write(table.paths.snapshot(snapshot.id), older.to_json().encode())
    assert {e.file.delete_row_count for e in table.live_files()} == {None}
    found = table.statistics()
    assert (found.row_count, found.row_count_exact) == (7, True), "its keys were read"
    monkeypatch.setattr("tablestore_engine.operation.read.row_count.READ_ROWS", 5)
    assert table.statistics().row_count_text == "10 at most"
    compact(table)
    assert table.statistics().row_count_text == "7"


def test_snapshots_by_id_and_time(table):
    for n in range(3):
        write(table, [row(1, n)])
    first, second, third = table.snapshots()
    assert table.snapshot(2) == second
    assert table.snapshot_at(third.time_millis + 1_000_000) == third
    assert table.snapshot_at(third.time_millis).time_millis <= third.time_millis
    with pytest.raises(SnapshotNotFound, match="oldest is of"):
        table.snapshot_at(first.time_millis - 1)
    with pytest.raises(SnapshotNotFound, match="1 to 3"):
        table.snapshot(9)


def test_to_arrow_of_columns_and_old_snapshots(table):
    write(table, [row(1, 1, "old"), row(1, 2)])
    write(table, [row(1, 1, "new"), row(1, 2)], [PUT, DELETE])
    assert table.to_arrow(["V"]).to_pydict() == {"v": ["new"]}
    old = table.to_arrow(["v", "id"], snapshot=table.snapshot(1))
    assert sorted(zip(*old.to_pydict().values(), strict=True)) == [("old", 1), ("x", 2)]


def test_targets_travel_to_executors(table):
    target = table.write_target()
    copied = pickle.loads(pickle.dumps(target))
    assert copied == target
    assert copied.schema.core_options.bucket == 2
    assert table.write_target().write_id != target.write_id


def test_the_user_of_a_commit_begins_as_the_option_says(tmp_path):
    rows = pa.table({"id": [1]})
    named = make_table(tmp_path, {"id": "BIGINT"}, options={"commit.user-prefix": "nightly"})
    plain = make_table(tmp_path, {"id": "BIGINT"}, name="plain")
    first, second = named.write(rows), named.write(rows)
    assert first.commit_user.startswith("nightly_tablestore-")
    assert (first.commit_user, first.commit_identifier) != (second.commit_user, second.commit_identifier)
    assert plain.write(rows).commit_user.startswith("tablestore-")


def test_a_write_that_lost_once_is_tried_again(table, monkeypatch):
    from tablestore_engine.operation.commit.commit import Committer

    commit, calls = Committer.commit, []

    def lose_first(self, change, *args, **kwargs):
        calls.append(change)
        if len(calls) == 1:
            raise ConflictError("Somebody else was first.")
        return commit(self, change, *args, **kwargs)

    monkeypatch.setattr(Committer, "commit", lose_first)
    table.write(pa.table({"p": [1, 2], "id": [1, 2], "v": ["a", "b"]}))
    assert len(calls) == 2
    kept = {e.file.file_name for e in table.live_files()}
    found = {name for _, _, names in os.walk(table.path) for name in names if name.endswith(".parquet")}
    assert found == kept, "the files of the lost attempt are removed"


def test_manifests_have_no_bounds_where_other_partition_columns_are_as_many(tmp_path):
    """Rows of both have one value, so bounds of the one would be taken for those of the other."""
    columns = {"dt": "STRING", "hr": "INT", "v": "INT"}
    table = make_table(tmp_path, columns, [], ["dt"], name="by_hour")
    write(table, [{"dt": "2024-01-01", "hr": 3, "v": 1}])
    old = list(table.live_files())
    assert table.state.manifests.write_manifest(old).partition_stats.null_counts == (0,)
    hourly = table.alter(DropPartitionField("dt"), AddPartitionField("hr"))
    assert hourly.schema.partition_fill == 1
    assert hourly.state.manifests.write_manifest(old).partition_stats.null_counts == ()
