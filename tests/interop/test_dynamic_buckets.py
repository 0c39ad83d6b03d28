"""Dynamic buckets with other writers and readers: they read ours, we read theirs, and each grows the other's index."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable, rows_of
from support.interop.readers import READERS
from support.invariants import check_index, check_invariants

from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.schema.types.types import AtomicType

ID, TEXT, AMOUNT = AtomicType("BIGINT"), AtomicType("STRING"), AtomicType("DECIMAL", True, 12, 2)
COLUMNS = {"id": ID, "code": TEXT, "day": AtomicType("INT"), "text": TEXT, "amount": AMOUNT}
OPTIONS = {"bucket": "-1", "dynamic-bucket.target-row-num": "20"}
LAYOUTS = {
    "one_key": (["id"], []),
    "composite_key": (["code", "id"], []),
    "partitioned": (["day", "id"], ["day"]),
}


def _rows(ids, text):
    return [
        {"id": i, "code": f"code {i % 3}", "day": i % 2, "text": f"{text}{i}", "amount": Decimal(i) / 4} for i in ids
    ]


def _state(rows, key):
    return list({tuple(row[k] for k in key): row for row in rows}.values())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_they_read_ours(catalog, all_read, name, layout):
    key, partition = LAYOUTS[layout]
    table = OurTable.create(catalog, name, COLUMNS, key=key, partition=partition, options=OPTIONS)
    state = []
    for ids, text in ((range(50), "a"), (range(30, 90), "b")):
        table.write(_rows(ids, text))
        state = _state([*state, *_rows(ids, text)], key)
        all_read(table, rows_of(table.table.schema, state))
    table.delete(_rows(range(0, 90, 3), "x"))
    state = [row for row in state if row["id"] % 3]
    all_read(table, rows_of(table.table.schema, state))
    table.compact(full=True)
    all_read(table, rows_of(table.table.schema, state))
    all_read(table, snapshot=1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_write_one_table(catalog, paimon, name, layout):
    """Each program finds keys by the index that the other wrote: no key gets into two buckets."""
    key, partition = LAYOUTS[layout]
    table = OurTable.create(catalog, name, COLUMNS, key=key, partition=partition, options=OPTIONS)
    state = []
    arrow = rows_of(table.table.schema, []).schema

    def theirs(rows):
        fields = [f.with_nullable(f.name not in key) for f in arrow]
        paimon.write(table.warehouse, table.name, pa.Table.from_pylist(rows, arrow).cast(pa.schema(fields)))

    for number, write in enumerate((table.write, theirs, table.write, theirs, table.write)):
        made = _rows(range(number * 13, number * 13 + 45), f"{number} ")
        write(made)
        state = _state([*state, *made], key)
        expected = rows_of(table.table.schema, state)
        assert_same(table.read(), expected, f"tablestore after write {number}")
        for reader in READERS:
            assert_same(paimon.read(reader, table.warehouse, table.name), expected, f"{reader} after write {number}")
        check_index(table.table, table.table.live_files())


def test_we_read_and_grow_what_they_made(catalog, paimon, name):
    made = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("v", pa.string())])
    paimon.create(catalog.warehouse, f"db.{name}", made, primary_keys=["id"], options=OPTIONS)
    rows = pa.table({"id": range(70), "v": ["theirs"] * 70}, schema=made)
    paimon.write(catalog.warehouse, f"db.{name}", rows)
    table = OurTable(catalog, "db", name)
    assert len({e.bucket for e in table.table.index_files()}) == 4
    assert_same(table.read(), rows.cast(rows_of(table.table.schema, []).schema), "tablestore")
    table.write([{"id": i, "v": "ours"} for i in range(60, 80)])
    table.compact(full=True)
    check_index(table.table, table.table.live_files())
    expected = table.read()
    assert expected.num_rows == 80
    for reader in READERS:
        assert_same(paimon.read(reader, catalog.warehouse, f"db.{name}"), expected, reader)


def test_partitions_with_numbers_of_their_own(catalog, all_read, name):
    """A number of buckets that changed for new partitions and for those that were overwritten."""
    table = OurTable.create(catalog, name, COLUMNS, key=["day", "id"], partition=["day"], options={"bucket": "2"})
    table.write([{**row, "day": row["id"] % 3} for row in _rows(range(60), "a")])
    table.alter(SetOption("bucket", "5"))
    table.write([{**row, "day": row["id"] % 4} for row in _rows(range(30, 90), "b")])
    first = min(e.partition for e in table.table.live_files())
    (day,) = PartitionFormat(table.table.schema).decode(first)
    made = [{**row, "day": day} for row in _rows(range(20), "c")]
    table.overwrite(made, lambda entry: entry.partition == first)
    assert {e.total_buckets for e in table.table.live_files()} == {2, 5}
    all_read(table)
    table.compact(full=True)
    all_read(table)
    check_invariants(table.table)
