"""Tables with merge engines, across readers and writers: partial states in several runs mean the same to all."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable, rows_of
from support.interop.readers import EVERY_READER, OtherReaderError

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, MapType, RowType

COLUMNS = {
    "id": AtomicType("BIGINT"),
    "n": AtomicType("INT"),
    "d": AtomicType("DECIMAL", True, 12, 2),
    "s": AtomicType("STRING"),
    "b": AtomicType("BOOLEAN"),
}
ENGINES = {
    "partial_update": {"merge-engine": "partial-update"},
    "first_row": {"merge-engine": "first-row"},
    "default_function": {"merge-engine": "aggregation"},
    "sums": {
        "merge-engine": "aggregation",
        "fields.n.aggregate-function": "sum",
        "fields.d.aggregate-function": "sum",
        "fields.s.aggregate-function": "listagg",
        "fields.b.aggregate-function": "bool_or",
    },
    "extremes": {
        "merge-engine": "aggregation",
        "fields.n.aggregate-function": "max",
        "fields.d.aggregate-function": "min",
        "fields.s.aggregate-function": "first_non_null_value",
        "fields.b.aggregate-function": "bool_and",
    },
    "order_of_a_column": {
        "merge-engine": "aggregation",
        "sequence.field": "n",
        "fields.d.aggregate-function": "sum",
        "fields.s.aggregate-function": "last_value",
        "fields.b.aggregate-function": "bool_or",
    },
    "products": {
        "merge-engine": "aggregation",
        "fields.n.aggregate-function": "product",
        "fields.d.aggregate-function": "last_value",
        "fields.s.aggregate-function": "first_value",
    },
}
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), False), ("n", pa.int32()), ("d", pa.decimal128(12, 2)), ("s", pa.string()),
        ("b", pa.bool_()),
    ]
)  # fmt: skip


def _rows(batch):
    """Every key in its batch once; each value is null somewhere."""
    return [
        {
            "id": i,
            "n": None if (i + batch) % 4 == 0 else i % 3 - 1,
            "d": None if (i + batch) % 5 == 0 else Decimal(i * batch) / 4,
            "s": None if (i + batch) % 3 == 0 else f"{batch}-{i}",
            "b": None if (i + batch) % 6 == 0 else (i * batch) % 2 == 0,
        }
        for i in range(batch, 20 + batch)
    ]


@pytest.mark.parametrize("case", [one for one in ENGINES if one != "first_row"])
def test_they_read_ours(catalog, all_read, name, case):
    options = {"bucket": "2", **ENGINES[case]}
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options=options)
    for batch in range(3):
        table.write(_rows(batch))
        all_read(table)
    table.compact(full=True)
    all_read(table)
    table.write(_rows(4))
    all_read(table)


def test_they_read_our_first_rows_once_they_are_compacted(catalog, all_read, name):
    """Other readers leave level 0 of such tables out."""
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "2", **ENGINES["first_row"]})
    for batch in range(3):
        table.write(_rows(batch))
    table.compact(full=True)
    all_read(table)


@pytest.mark.parametrize("case", ENGINES)
def test_we_read_theirs(paimon, catalog, name, case):
    options = {"bucket": "2", **ENGINES[case]}
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, primary_keys=["id"], options=options)
    ours = OurTable.create(catalog, f"{name}_ours", COLUMNS, key=["id"], options=options)
    for batch in range(3):
        paimon.write(catalog.warehouse, f"db.{name}", pa.Table.from_pylist(_rows(batch), SCHEMA))
        ours.write(_rows(batch))
        theirs = OurTable(catalog, "db", name).read().sort_by("id")
        assert theirs.to_pylist() == ours.read().sort_by("id").to_pylist()
    continued = OurTable(catalog, "db", name)
    continued.write(_rows(5))
    ours.write(_rows(5))
    continued.compact(full=True)
    assert continued.read().sort_by("id").to_pylist() == ours.read().sort_by("id").to_pylist()


LINEAR = {
    "merge-engine": "aggregation",
    "fields.n.aggregate-function": "sum",
    "fields.d.aggregate-function": "sum",
    "fields.s.aggregate-function": "last_value",
    "fields.b.aggregate-function": "last_value",
}


def _taken_back(table, batch):
    """The rows of a batch, each taken back (-U or -D) by half of the keys and then given anew by a quarter."""
    rows = _rows(batch)
    changes = [(row, 3 if row["id"] % 4 else 1) for row in rows if row["id"] % 2]
    changes += [({**row, "n": 5}, 2) for row in rows if row["id"] % 4 == 0]
    changes.sort(key=lambda change: change[0]["id"])
    kinds = pa.array([kind for _, kind in changes], pa.int8())
    return rows_of(table.table.schema, [row for row, _ in changes]).append_column(ROW_KIND_COLUMN, kinds)


def test_they_read_retractions_that_became_ordinary_records(catalog, all_read, name):
    """Sums and last values: other readers, who cannot take anything back, need not."""
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "2", **LINEAR})
    for batch in range(3):
        table.write(_rows(batch))
        table.write(_taken_back(table, batch))
        all_read(table)
    table.compact(full=True)
    all_read(table)


def test_they_read_retractions_that_were_stored_once_they_are_compacted(catalog, all_read, name):
    options = {"bucket": "2", "merge-engine": "aggregation", "fields.n.aggregate-function": "product"}
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options=options)
    ones = [{**row, "n": 1} for row in _rows(0)]
    table.write(ones)
    kinds = pa.array([1] * len(ones), pa.int8())
    table.write(rows_of(table.table.schema, ones).append_column(ROW_KIND_COLUMN, kinds))
    table.compact(full=True)
    all_read(table)


@pytest.mark.parametrize("function", ["product", "collect"])
def test_retractions_that_are_stored_are_never_misread(catalog, paimon, name, function):
    """Where a record keeps its kind -U or -D, pypaimon, which cannot take back, says so; the others take back."""
    number = AtomicType("INT")
    columns = {"id": AtomicType("BIGINT"), "n": ArrayType(number) if function == "collect" else number}
    options = {"bucket": "2", "merge-engine": "aggregation", "fields.n.aggregate-function": function}
    table = OurTable.create(catalog, name, columns, key=["id"], options=options)
    given = [{"id": i, "n": [i] if function == "collect" else i + 1} for i in range(10)]
    table.write(given)
    table.write(given)
    half = rows_of(table.table.schema, given[:5])
    table.write(half.append_column(ROW_KIND_COLUMN, pa.array([1] * 5, pa.int8())))
    assert any(e.file.delete_row_count for e in table.table.live_files())
    own = table.read()
    for reader in EVERY_READER:
        if reader == "pypaimon":
            with pytest.raises(OtherReaderError, match="received a -U row"):
                paimon.read(reader, catalog.warehouse, table.name)
        else:
            assert_same(paimon.read(reader, catalog.warehouse, table.name), own, reader)
    table.compact(full=True)
    for reader in EVERY_READER:
        assert_same(paimon.read(reader, catalog.warehouse, table.name), own, reader)


@pytest.mark.parametrize("case", ["maps", "nested_rows"])
def test_they_read_maps_and_nested_rows(paimon, catalog, all_read, name, case):
    text, number = AtomicType("STRING"), AtomicType("INT")
    kinds = {
        "maps": MapType(text, number),
        "nested_rows": ArrayType(RowType((DataField(10, "k", number), DataField(11, "v", text)))),
    }
    columns = {"id": AtomicType("BIGINT"), "v": kinds[case]}
    functions = {
        "maps": {"fields.v.aggregate-function": "merge_map"},
        "nested_rows": {"fields.v.aggregate-function": "nested_update", "fields.v.nested-key": "k"},
    }
    options = {"bucket": "2", "merge-engine": "aggregation", **functions[case]}

    def value(i, batch):
        if (i + batch) % 4 == 0:
            return None
        if case == "maps":
            return [(f"k{i % 2}", batch), (f"b{batch}", None)]
        return [{"k": 0 if i % 2 else batch, "v": f"{batch}-{i}"}]

    table = OurTable.create(catalog, name, columns, key=["id"], options=options)
    for batch in range(3):
        table.write([{"id": i, "v": value(i, batch)} for i in range(12)])
        if case == "maps":
            # pypaimon hands some of the maps that it merged to Arrow in a form that Arrow does not take.
            assert_same(paimon.read("datafusion", table.warehouse, table.name), table.read(), "datafusion")
        else:
            all_read(table)
    table.compact(full=True)
    all_read(table)
