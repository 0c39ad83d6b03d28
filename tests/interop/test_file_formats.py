"""Keyed tables in ORC and Avro: pypaimon's are read, changed and compacted here, and pypaimon reads the result."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.interop.ours import OurTable

SCHEMA = pa.schema([pa.field("id", pa.int64(), False), ("a", pa.int32()), ("b", pa.string())])


@pytest.mark.parametrize("file_format", ["orc", "avro"])
def test_keyed_tables(paimon, catalog, name, file_format):
    options = {"bucket": "1", "file.format": file_format}
    paimon.create(catalog.warehouse, f"db.{name}", SCHEMA, primary_keys=["id"], options=options)
    theirs = [{"id": i, "a": i, "b": None if i == 2 else "x"} for i in range(5)]
    paimon.write(catalog.warehouse, f"db.{name}", pa.Table.from_pylist(theirs, SCHEMA))
    table = OurTable(catalog, "db", name)
    assert table.read().sort_by("id").to_pylist() == theirs
    table.write([{"id": 1, "a": None, "b": "ours"}, {"id": 9, "a": 9, "b": ""}])
    expected = [theirs[0], {"id": 1, "a": None, "b": "ours"}, *theirs[2:], {"id": 9, "a": 9, "b": ""}]
    assert {entry.file.format for entry in table.table.live_files()} == {file_format}
    for full in (False, True):
        if full:
            table.compact(full=True)
        assert table.read().sort_by("id").to_pylist() == expected
        found = paimon.read("pypaimon", catalog.warehouse, f"db.{name}")
        assert found.sort_by("id").to_pylist() == expected
