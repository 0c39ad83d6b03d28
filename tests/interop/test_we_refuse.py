"""Tables of others that mean what this engine does not do yet: refused by name, never misread."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.interop.ours import OurTable, rows_of
from support.interop.readers import EVERY_READER, OtherReaderError

from tablestore_engine.errors import OptionError, UnsupportedTypeError
from tablestore_engine.schema.types.types import AtomicType

SCHEMA = pa.schema([pa.field("id", pa.int64(), False), ("a", pa.int32()), ("b", pa.string())])
APPEND = {
    "data_evolution": {"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
}


def _refused(table: OurTable, options: dict[str, str]) -> None:
    names = "|".join(options)
    with pytest.raises(OptionError, match=f"'({names})'.* is not supported by this engine"):
        table.read()
    with pytest.raises(OptionError, match=f"'({names})'.* is not supported by this engine"):
        table.write([{"id": 1}])


@pytest.mark.parametrize("case", APPEND)
def test_append_tables(paimon, catalog, name, case):
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, options=APPEND[case])
    rows = pa.Table.from_pylist([{"id": i, "a": i, "b": "x"} for i in range(5)], SCHEMA)
    paimon.write(catalog.warehouse, f"db.{name}", rows)
    _refused(OurTable(catalog, "db", name), APPEND[case])


def test_row_tracking_is_read_but_not_written(paimon, catalog, name):
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, options={"row-tracking.enabled": "true"})
    rows = pa.Table.from_pylist([{"id": i, "a": i, "b": "x"} for i in range(5)], SCHEMA)
    paimon.write(catalog.warehouse, f"db.{name}", rows)
    table = OurTable(catalog, "db", name)
    assert table.read().sort_by("id").to_pylist() == rows.to_pylist()
    with pytest.raises(OptionError, match=r"row-tracking\.enabled"):
        table.write([{"id": 1}])


def test_an_unknown_merge_engine_stops_every_reader(paimon, catalog, name):
    """What guards the tables of ours that Paimon cannot express."""
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, primary_keys=["id"], options={"bucket": "1"})
    rows = pa.Table.from_pylist([{"id": i, "a": i, "b": "x"} for i in range(5)], SCHEMA)
    paimon.write(catalog.warehouse, f"db.{name}", rows)
    table = OurTable(catalog, "db", name)
    path = table.table.paths.schema(0)
    io = table.table.io
    io.write(path, io.read(path).replace(b'"bucket": "1"', b'"bucket": "1", "merge-engine": "tablestore-count"'))
    assert b"tablestore-count" in io.read(path)
    _refused(table, {"merge-engine": ""})
    for reader in EVERY_READER:
        with pytest.raises(OtherReaderError, match=r"(?i)merge-?engine"):
            paimon.read(reader, catalog.warehouse, table.name)


def test_tables_that_count_rows_stop_every_reader(paimon, catalog, name):
    """Until the first retraction, a table without a key is everybody's; from then on, nobody else reads it.

    pypaimon appends to it without looking at its merge engine. That does no harm: its files are plain files.
    """
    table = OurTable.create(catalog, name, {"id": AtomicType("BIGINT"), "v": AtomicType("STRING")})
    rows = [{"id": i, "v": "x"} for i in range(3)]
    table.write(rows)
    for reader in EVERY_READER:
        assert paimon.read(reader, catalog.warehouse, table.name).num_rows == 3
    deleted = rows_of(table.table.schema, rows[:1]).append_column("_row_kind", pa.array(["-D"]))
    table.table.write(deleted)
    assert table.read().sort_by("id").to_pylist() == rows[1:]
    for full in (None, True):
        if full:
            table.compact(full=True)
            assert table.read().sort_by("id").to_pylist() == rows[1:]
        for reader in EVERY_READER:
            with pytest.raises(OtherReaderError, match=r"(?i)merge-?engine"):
                paimon.read(reader, catalog.warehouse, table.name)
    paimon.write(catalog.warehouse, table.name, rows_of(table.table.schema, rows[:1]))
    assert table.read().sort_by("id").to_pylist() == rows
    table.table.write(deleted)
    assert table.read().sort_by("id").to_pylist() == rows[1:]
    with pytest.raises(OtherReaderError, match=r"(?i)merge-?engine"):
        paimon.read("pypaimon", catalog.warehouse, table.name)


def test_nanoseconds_are_read_but_not_written(paimon, catalog, name):
    """Statistics of theirs would not bound what we can hold of them, and Java wants them as INT96."""
    schema = pa.schema([("id", pa.int64()), ("at", pa.timestamp("ns"))])
    paimon.create(catalog.warehouse, f"db.{name}", schema)
    rows = pa.table([[1, 2], pa.array([1_700_000_000_123_456_789, None], pa.timestamp("ns"))], schema=schema)
    paimon.write(catalog.warehouse, f"db.{name}", rows)
    table = OurTable(catalog, "db", name)
    assert table.read().column("at").cast(pa.int64()).to_pylist() == [1_700_000_000_123_456_789, None]
    with pytest.raises(UnsupportedTypeError, match=r"'at' has type TIMESTAMP\(9\)"):
        table.write([{"id": 3}])


def test_shredded_maps(paimon, catalog, name):
    """Such a map is stored as columns of its keys, which are no map to anybody who does not know."""
    options = {"fields.m.map.storage-layout": "shared-shredding"}
    schema = pa.schema([("id", pa.int64()), ("m", pa.map_(pa.string(), pa.int64()))])
    paimon.create(catalog.warehouse, f"db.{name}", schema, options=options)
    rows = pa.Table.from_pylist([{"id": i, "m": [("a", i), ("b", None)]} for i in range(5)], schema)
    paimon.write(catalog.warehouse, f"db.{name}", rows)
    _refused(OurTable(catalog, "db", name), {"fields.m.map.storage-layout": ""})
