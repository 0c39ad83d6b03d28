"""Tables whose columns we changed, as other readers see them: before a compaction and after it."""

from __future__ import annotations

import pytest
from support.interop.ours import OurTable

from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
    SetColumnDefault,
)
from tablestore_engine.schema.types.types import NULL_DEFAULT, AtomicType

LONG, INT, TEXT = AtomicType("BIGINT"), AtomicType("INT"), AtomicType("STRING")
COLUMNS = {"id": LONG, "a": INT, "b": TEXT, "c": TEXT, "f": AtomicType("FLOAT")}
CHANGES = (
    (DropColumn("c"),),
    (AddColumn("c", TEXT),),
    (RenameColumn("b", "text"), MoveColumn("c", first=True)),
    (RetypeColumn("a", LONG), RetypeColumn("f", AtomicType("DOUBLE"))),
)


def _rows(columns, ids):
    values = {"BIGINT": int, "INT": int, "STRING": "t{}".format, "FLOAT": float, "DOUBLE": float}
    return [{f.name: values[f.type.root](i) for f in columns} for i in ids]


FORMATS = ["parquet", "orc", "avro"]


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("key", [(), ("id",)], ids=["append", "keyed"])
def test_changed_columns(catalog, all_read, name, key, file_format):
    options = {"file.format": file_format, **({"bucket": "1"} if key else {})}
    table = OurTable.create(catalog, name, COLUMNS, key=key, options=options)
    table.write(_rows(table.table.schema.fields, range(10)))
    for number, changes in enumerate(CHANGES, 1):
        table.table.alter(*changes)
        all_read(table)
        table.write(_rows(table.table.schema.fields, range(number * 8, number * 8 + 10)))
        all_read(table)
    before = table.read()
    assert before.column("c").null_count > 0
    table.compact(full=True)
    all_read(table, before)


@pytest.mark.parametrize("file_format", FORMATS)
def test_java_reads_changed_columns(catalog, java_reads, name, file_format):
    """Fields of structs, and types to which a cast leads, as well."""
    options = {"bucket": "1", "file.format": file_format}
    table = OurTable.create(catalog, name, COLUMNS, key=("id",), options=options)
    table.write(_rows(table.table.schema.fields, range(10)))
    for changes in (*CHANGES, (RetypeColumn("a", AtomicType("DECIMAL", True, 21, 2)),)):
        table.table.alter(*changes)
        java_reads(table)
        table.write([{"id": 3}])
        java_reads(table)
    table.compact(full=True)
    java_reads(table)


@pytest.mark.parametrize("key", [(), ("id",)], ids=["append", "keyed"])
def test_columns_whose_default_is_null(catalog, all_read, java_reads, name, key):
    """That is one more word of the schema, which others pass over."""
    table = OurTable.create(catalog, name, COLUMNS, key=key, options={"bucket": "1"} if key else {})
    table.table.alter(SetColumnDefault("c", NULL_DEFAULT), SetColumnDefault("b", "x"))
    assert [one.default_value for one in table.table.schema.fields] == [None, None, "x", NULL_DEFAULT, None]
    table.write([{"id": 1, "a": 1, "b": "y", "f": 1.5}])
    all_read(table)
    java_reads(table)
