"""Numbers of buckets that differ between partitions, and rows that come in batches."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from support.dynamic_buckets import COLUMNS, DYNAMIC, buckets, everything, index_names, prepared
from support.files import data_files
from support.invariants import check_invariants
from support.tables import arrow_rows, by_key, identity, make_table, new_job, read, rows, write

from tablestore_engine.errors import ConflictError, PrimaryKeyError, UserError
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.index_change import IndexChange
from tablestore_engine.operation.write.write_task import BUCKET_COLUMN, write_table
from tablestore_engine.schema.table.schema_changes import SetOption


def test_partitions_keep_their_number_of_buckets(catalog):
    table = make_table(catalog, {"p": "INT", **COLUMNS}, ["p", "id"], ["p"], {"bucket": "2"})
    write(table, [{"p": p, "id": i, "v": "a"} for p in (1, 2) for i in range(20)])

    table = catalog.alter_table("default", "t", [SetOption("bucket", "5")])
    write(table, [{"p": p, "id": i, "v": "b"} for p in (1, 3) for i in range(10, 30)])
    numbers = {partition_of(table, e): e.total_buckets for e in table.live_files()}
    assert numbers == {1: 2, 2: 2, 3: 5}
    assert len(read(table)) == 30 + 20 + 20
    check_invariants(table)
    first = next(e.partition for e in table.live_files() if partition_of(table, e) == 1)
    job = new_job(table, into_empty=True)
    made = [{"p": 1, "id": i, "v": "c"} for i in range(20)]
    write(table, made, kind="OVERWRITE", job=job, replaces=lambda e: e.partition == first)
    assert {partition_of(table, e): e.total_buckets for e in table.live_files()} == {1: 5, 2: 2, 3: 5}
    check_invariants(table)


def partition_of(table, entry):
    return PartitionFormat(table.schema).decode(entry.partition)[0]


def test_a_table_without_partitions_keeps_its_number_too(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options={"bucket": "3"})
    write(table, rows(range(20), "a"))

    table = catalog.alter_table("default", "t", [SetOption("bucket", "7")])
    write(table, rows(range(10, 30), "b"))
    assert {e.total_buckets for e in table.live_files()} == {3}
    assert len(by_key(table)) == 30
    check_invariants(table)


def test_a_write_into_a_partition_that_was_rescaled_meanwhile_conflicts(catalog):
    table = make_table(catalog, COLUMNS, options={"bucket": "2", "bucket-key": "id"})
    write(table, rows(range(20), "a"))
    commit, _ = prepared(table, rows(range(5), "b"))
    job = replace(new_job(table, into_empty=True), total_buckets=4)
    write(table, rows(range(20), "a"), kind="OVERWRITE", job=job, replaces=everything)
    with pytest.raises(ConflictError, match="4 buckets"):
        commit()


def batches(table, *tables):
    return [batch for one in tables for batch in arrow_rows(table.schema, one).to_batches()]


def test_batches_find_keys_where_earlier_ones_put_them(dynamic):
    write(dynamic, rows(range(6), "a"))
    parts = [rows(range(4, 12), "b"), rows(range(8, 14), "c"), rows([0, 13, 14], "d")]
    dynamic.write(iter(batches(dynamic, *parts)))
    expected = dict.fromkeys(range(6), "a")
    for part in parts:
        expected |= {row["id"]: row["v"] for row in part}
    assert {i: row["v"] for i, row in by_key(dynamic).items()} == expected
    assert buckets(dynamic) == {0: 4, 1: 4, 2: 4, 3: 3}
    check_invariants(dynamic)


def test_batches_repair_the_index_of_each_partition(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in "xyz" for i in range(6)])
    Committer(table.state).commit(Change("OVERWRITE", index=IndexChange(restores=())), identity())
    assert table.index_files() == []
    parts = [[{"p": p, "id": i, "v": p} for i in range(5, 8)] for p in "xyx"]
    table.write(iter(batches(table, *parts)))
    found = {(row["p"], row["id"]): row["v"] for row in read(table)}
    updated = {(p, i): p for p in "xy" for i in range(5, 8)}
    assert found == {**{(p, i): "a" for p in "xyz" for i in range(6)}, **updated}
    assert sum(e.row_count for e in table.index_files()) == 16
    assert {e.file_name for e in table.index_files()} <= set(index_names(table))


def test_batches_of_a_table_whose_partitions_have_other_numbers_of_buckets(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], {"bucket": "2"})
    own = PartitionFormat(table.schema).encode(("x",))
    job = replace(new_job(table), partition_buckets={own: 5})
    result = write_table(job, arrow_rows(table.schema, [{"p": "x", "id": i, "v": "a"} for i in range(40)]))
    Committer(table.state).commit(Change("APPEND", tuple(result.entries)), identity())
    part = [{"p": p, "id": i, "v": "b"} for p in "xy" for i in range(40)]
    table.write(iter(batches(table, part)))
    assert {e.total_buckets for e in table.live_files() if e.partition == own} == {5}
    assert {e.total_buckets for e in table.live_files() if e.partition != own} == {2}
    assert len(read(table)) == 80
    check_invariants(table)


def test_batches_of_keys_that_cross_partitions_are_refused(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["id"], ["p"], {"bucket": "-1"})
    with pytest.raises(UserError, match="without Spark"):
        table.write(iter(batches(table, [{"p": "x", "id": 1, "v": "a"}])))
    assert table.latest_snapshot() is None


def test_a_failed_write_of_batches_leaves_no_index_files(dynamic):
    write(dynamic, rows(range(6), "a"))
    before = index_names(dynamic)
    bad = arrow_rows(dynamic.schema, rows([7], "b"))
    with pytest.raises(PrimaryKeyError):
        dynamic.write(iter([*bad.to_batches(), *batches(dynamic, [{"id": None, "v": "x"}])]))
    assert index_names(dynamic) == before


def test_a_partition_that_was_not_counted(catalog):
    """Tasks get rows with their buckets; those of a partition whose index nobody asked have any bucket."""
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in "xy" for i in range(6)])
    job = new_job(table)
    counted = PartitionFormat(table.schema).encode(("x",))
    job = replace(job, dynamic=replace(job.dynamic, sought=frozenset([counted])))
    files = data_files(table)

    def write_to(partition):
        rows = arrow_rows(table.schema, [{"p": partition, "id": 5, "v": "b"}])
        return write_table(job, rows.append_column(BUCKET_COLUMN, pa.array([0], pa.int32())), f"{partition}-")

    with pytest.raises(ConflictError, match="partition p=y only when it ran a second time"):
        write_to("y")
    assert data_files(table) == files
    assert write_to("x").rows_out == write_to("new").rows_out == 1
