"""Append tables that we wrote, and tables that got new columns, as other readers see them."""

from __future__ import annotations

import pytest
from support.interop.ours import OurTable
from support.interop.readers import EVERY_READER
from support.interop.shapes import EVERYTHING, TIMES, value_rows

from tablestore_engine.schema.table.schema_changes import AddColumn, SetComment, SetOption
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, RowType

ID, INT, TEXT = AtomicType("BIGINT"), AtomicType("INT"), AtomicType("STRING")
COLUMNS = {"id": ID, "text": TEXT, "day": INT}
LAYOUTS = {
    "plain": ([], {}),
    "partitioned": (["day"], {}),
    "bucketed": ([], {"bucket": "3", "bucket-key": "id"}),
    "bucketed_by_two": ([], {"bucket": "3", "bucket-key": "text,id"}),
    "partitioned_and_bucketed": (["day"], {"bucket": "2", "bucket-key": "id"}),
}


def _rows(ids):
    return [{"id": i % 13, "text": None if i % 5 == 0 else f"t{i}", "day": i % 3} for i in ids]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_life_of_an_append_table(catalog, all_read, name, layout):
    partition, options = LAYOUTS[layout]
    options = {**options, "compaction.min.file-num": "3"}
    table = OurTable.create(catalog, name, COLUMNS, partition=partition, options=options)
    all_read(table)
    for step in range(4):
        table.write(_rows(range(step * 20, step * 20 + 40)))
    assert all_read(table).num_rows == 160
    before = table.read()
    assert table.compact(full=False) is not None
    all_read(table, before)
    table.write(_rows(range(5)))
    before = all_read(table)
    table.compact(full=True)
    all_read(table, before)
    table.overwrite(_rows(range(6)))
    assert all_read(table).num_rows == 6
    table.truncate()
    assert all_read(table).num_rows == 0
    for snapshot in table.table.snapshots():
        all_read(table, snapshot=snapshot.id)


def test_values_of_every_type(catalog, all_read, name):
    samples = {**EVERYTHING, **TIMES}
    table = OurTable.create(catalog, name, {n: s.type for n, s in samples.items()})
    table.write(value_rows(50, samples))
    table.write(value_rows(30, samples, 7))
    assert all_read(table).num_rows == 80


def test_files_without_a_row_of_some_column(catalog, all_read, name):
    table = OurTable.create(catalog, name, {"a": ID, **{n: s.type for n, s in EVERYTHING.items()}})
    table.write([{"a": 1}, {"a": None}])
    all_read(table)


@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
def test_added_columns(catalog, all_read, name, key):
    table = OurTable.create(catalog, name, {"id": ID, "text": TEXT}, key=key, options={"bucket": "1"} if key else {})
    table.write([{"id": i, "text": f"old{i}"} for i in range(10)])
    pair = RowType((DataField(0, "x", INT), DataField(1, "y", ArrayType(TEXT))))
    table.alter(AddColumn("more", AtomicType("DECIMAL", True, 12, 3), "a comment"), AddColumn("pair", pair))
    all_read(table)
    table.write([{"id": i, "text": f"new{i}", "pair": {"x": i, "y": ["a", None]}} for i in range(5, 15)])
    all_read(table)
    table.alter(AddColumn("last", AtomicType("TIMESTAMP_LTZ")), SetComment("grown"), SetOption("write-only", "true"))
    table.write([{"id": i, "text": f"last{i}"} for i in range(12, 20)])
    all_read(table)
    before = table.read()
    table.compact(full=True)
    all_read(table, before)


def test_past_of_a_table_with_added_columns(catalog, paimon, name):
    """The past is read with the schema of then."""
    table = OurTable.create(catalog, name, {"id": ID}, key=["id"], options={"bucket": "1"})
    table.write([{"id": 1}])
    table.alter(AddColumn("v", TEXT))
    table.write([{"id": 2, "v": "two"}])
    for reader in EVERY_READER:
        past = paimon.read(reader, table.warehouse, table.name, snapshot=1)
        assert past.select(["id"]).to_pylist() == [{"id": 1}], reader
