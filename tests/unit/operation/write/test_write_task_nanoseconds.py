"""Nanoseconds are refused where they would be written: at CREATE, and in tables that others made."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, AtomicType, MapType

NANOS = AtomicType("TIMESTAMP", True, 9)
TYPES = [
    NANOS,
    AtomicType("TIMESTAMP_LTZ", True, 7),
    ArrayType(NANOS),
    MapType(AtomicType("INT"), ArrayType(NANOS)),
]
REFUSED = "'at' has type TIMESTAMP.* but rows are written with microseconds"


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_create(kind):
    with pytest.raises(UnsupportedTypeError, match=REFUSED):
        create_schema([("at", kind, None)])


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_write(tmp_path, kind):
    schema = create_schema([("at", AtomicType("TIMESTAMP"), None)])
    theirs = replace(schema, fields=(replace(schema.fields[0], type=kind),))
    catalog = Catalog(tmp_path)
    catalog.create_table("default", "t", theirs)
    table = catalog.load_table("default", "t")
    rows = pa.table({"at": pa.nulls(3, to_arrow_type(kind))})
    with pytest.raises(UnsupportedTypeError, match=REFUSED):
        write_table(WriteJob(table.write_target(), -1, 0), rows)
    assert [entry.name for entry in table.io.list(table.path)] == ["schema"]
