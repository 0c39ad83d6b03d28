"""File indexes that are made for files that are there already."""

from __future__ import annotations

import os

import pytest
from support.append_deletion_vectors import prepared_delete
from support.files import data_files
from support.tables import arrow_rows, make_table, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import StorageError
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import AddColumn, RemoveOption, SetOption
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.spark.compact.compactor import rewrite_indexes

INDEXES = [SetOption("file-index.bitmap.columns", "b,v"), SetOption("file-index.in-manifest-threshold", "0")]


def no_spark():
    raise AssertionError("small files are read in this process")


def found(table, column, value):
    return len(table.scan(predicate=Compare(column, "=", value)).files)


def altered(tmp_path, *changes):
    return Catalog(tmp_path).alter_table("default", "t", changes)


@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
def test_files_of_an_older_schema_get_an_index(tmp_path, key):
    table = make_table(tmp_path, {"id": "INT", "v": "STRING"}, key, options={"write-only": "true"})
    for part in range(3):
        write(table, [{"id": n, "v": f"v{n}"} for n in range(part, 90, 3)])
    table = altered(tmp_path, AddColumn("b", parse_type("INT")), *INDEXES)
    rows = sorted(table.to_arrow().to_pylist(), key=str)
    before, names = found(table, "v", "v31"), set(data_files(table))
    changed = rewrite_indexes(no_spark, table)
    assert len(changed) == 3
    assert table.latest_snapshot().commit_kind == "COMPACT"
    assert found(table, "v", "v31x") == 0
    assert (before, found(table, "v", "v31")) == (3, 3 if key else 1), "a section stays whole"
    assert sorted(table.to_arrow().to_pylist(), key=str) == rows
    assert names < set(data_files(table)), "the data files stay as they are"


def test_older_indexes_go_with_their_snapshots(tmp_path):
    table = make_table(tmp_path, {"b": "INT", "v": "INT"})
    write(table, [{"b": 1, "v": 1}])
    table = altered(tmp_path, *INDEXES)
    rewrite_indexes(no_spark, table)
    (first,) = table.scan().files
    assert rewrite_indexes(no_spark, table), "again, in case that the index was damaged"
    (second,) = table.scan().files
    assert first.index_file != second.index_file
    assert {os.path.basename(p) for p in data_files(table)} == {first.file_name, first.index_file, second.index_file}
    table.expire_snapshots(Retention(1, 1, 0, 10), 10**15)
    assert {os.path.basename(p) for p in data_files(table)} == {second.file_name, second.index_file}
    table = altered(tmp_path, RemoveOption("file-index.bitmap.columns"))
    rewrite_indexes(no_spark, table)
    (third,) = table.scan().files
    assert (third.index_file, third.embedded_index) == (None, None)


def test_nothing_changes_without_an_index(tmp_path):
    table = make_table(tmp_path, {"v": "INT"})
    write(table, [{"v": 1}])
    assert rewrite_indexes(no_spark, table) == []
    assert table.latest_snapshot().id == 1


def test_deleted_rows_stay_deleted(tmp_path):
    options = {"bucket": "1", "deletion-vectors.enabled": "true"}
    table = make_table(tmp_path, {"id": "INT", "b": "INT", "v": "INT"}, ["id"], options=options)
    for value, ids in ((1, range(50)), (2, [7])):
        table.write(arrow_rows(table.schema, [{"id": n, "b": n, "v": value} for n in ids]))
    before = table.index_files()
    table = altered(tmp_path, *INDEXES)
    assert len(rewrite_indexes(no_spark, table)) == 2
    assert len(before) == 1
    assert table.index_files() == before
    assert {r["id"]: r["v"] for r in table.to_arrow().to_pylist()} == {**dict.fromkeys(range(50), 1), 7: 2}
    assert table.to_arrow().num_rows == 50


@pytest.mark.parametrize("options", [{}, {"bucket": "1", "bucket-key": "id"}], ids=["one bucket", "fixed bucket"])
def test_deletion_vectors_stay_marked(tmp_path, options):
    options = {"deletion-vectors.enabled": "true", **options}
    table = make_table(tmp_path, {"id": "INT", "b": "INT", "v": "INT"}, options=options)
    for ids in (range(50), range(50, 60)):
        table.write(arrow_rows(table.schema, [{"id": n, "b": n, "v": 1} for n in ids]))
    prepared_delete(table, [7, 8])()
    before = table.index_files()
    table = altered(tmp_path, *INDEXES)
    assert len(rewrite_indexes(no_spark, table)) == 2
    assert table.index_files() == before
    assert sorted(r["id"] for r in table.to_arrow().to_pylist()) == [n for n in range(60) if n not in (7, 8)]


def test_a_failure_leaves_the_files_and_no_index(tmp_path):
    table = make_table(tmp_path, {"b": "INT", "v": "INT"}, options={"bucket": "2", "bucket-key": "v"})
    write(table, [{"b": 1, "v": n} for n in range(20)])
    table = altered(tmp_path, *INDEXES)
    broken, _ = sorted(data_files(table))
    os.rename(broken, f"{tmp_path}/elsewhere")
    with pytest.raises(StorageError, match=os.path.basename(broken)):
        rewrite_indexes(no_spark, table)
    os.rename(f"{tmp_path}/elsewhere", broken)
    assert len([f for f in table.scan().files if f.index_file]) == 1, "that of the other bucket"
    assert len(data_files(table)) == 3
    assert table.to_arrow().num_rows == 20
