"""Types, columns by id, table schemas, their changes and their Arrow form. Pure: no files, no Spark."""

from __future__ import annotations

from tablestore_engine.schema.changes import (
    AddColumn,
    RemoveOption,
    SchemaChange,
    SetColumnComment,
    SetComment,
    SetOption,
    apply_changes,
)
from tablestore_engine.schema.system import SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.schema.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    parse_type,
)

__all__ = [
    "SEQUENCE_NUMBER",
    "VALUE_KIND",
    "AddColumn",
    "ArrayType",
    "AtomicType",
    "DataField",
    "DataType",
    "MapType",
    "RemoveOption",
    "RowType",
    "SchemaChange",
    "SetColumnComment",
    "SetComment",
    "SetOption",
    "TableSchema",
    "apply_changes",
    "key_field",
    "parse_type",
]
