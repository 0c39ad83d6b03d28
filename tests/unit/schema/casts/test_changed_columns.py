"""What a consumer of changes cannot see: columns whose values are others since the schema changed."""

from __future__ import annotations

import pytest
from support.tables import reload

from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.casts.changed_columns import changed_columns, renamed_columns
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
    SetOption,
)
from tablestore_engine.sql.types.types import parse_sql_type

COLUMNS = {
    "id": "int",
    "v": "int",
    "w": "int",
    "d": "decimal(10, 2)",
    "day": "date",
    "s": "struct<a: int, b: struct<c: int, f: int>>",
    "l": "array<struct<x: int, y: int>>",
    "m": "map<string, struct<x: int, y: int>>",
}


def of(text):
    return parse_sql_type(text, "c")


INT = of("int")


def again(name, text="int"):
    path = tuple(name.split("."))
    return [DropColumn(path), AddColumn(path, parse_sql_type(text, name))]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (again("v"), "its column 'v' was dropped or renamed, and is another one, which was added under its name"),
        (again("v", "string"), "its column 'v' was dropped"),
        ([DropColumn("v"), AddColumn("V", INT)], "its column 'v' was dropped"),
        ([DropColumn("v"), RenameColumn("w", "v")], "its column 'v' was dropped or renamed, and is what was 'w'"),
        (again("s.a"), "its column 's.a' was dropped"),
        (again("s.b.c", "string"), "its column 's.b.c' was dropped"),
        ([*again("l.element.x")], "its column 'l.element.x' was dropped"),
        ([*again("m.value.x")], "its column 'm.value.x' was dropped"),
        ([RetypeColumn("d", of("decimal(10, 1)"))], "its column 'd' is DECIMAL(10, 1) and was DECIMAL(10, 2), so that"),
        ([RetypeColumn("v", of("float"))], "its column 'v' is FLOAT"),
        ([RetypeColumn("s", of("string"))], "its column 's' is STRING"),
        # The value stays, but its text, or the result of a division, does not.
        ([RetypeColumn("v", of("double"))], "its column 'v' is DOUBLE and was INT"),
        ([RetypeColumn("v", of("decimal(12, 0)"))], "its column 'v' is DECIMAL(12, 0)"),
        ([RetypeColumn("v", of("string"))], "its column 'v' is STRING"),
        ([RetypeColumn("d", of("decimal(12, 3)"))], "its column 'd' is DECIMAL(12, 3)"),
        ([RetypeColumn("day", of("timestamp_ntz"))], "its column 'day' is TIMESTAMP(6) and was DATE"),
        ([RenameColumn("v", "u"), RetypeColumn("u", of("double"))], "its column 'u' is DOUBLE"),
        ([RetypeColumn(("s", "b", "c"), of("double"))], "its column 's.b.c' is DOUBLE"),
        ([RetypeColumn(("m", "value", "x"), of("double"))], "its column 'm.value.x' is DOUBLE"),
        # A compaction in between may have stored the values as they were then.
        ([RetypeColumn("d", of("decimal(10, 1)")), RetypeColumn("d", of("decimal(10, 2)"))], "DECIMAL(10, 1) and was"),
        ([RetypeColumn("v", of("double")), DropColumn("v")], ""),
        ([AddColumn("n", of("double")), RetypeColumn("n", of("int"))], ""),
        ([RetypeColumn("v", of("bigint")), RetypeColumn("d", of("decimal(12, 2)"))], ""),
        ([AddColumn("n", INT), DropColumn("w"), RenameColumn("v", "u"), MoveColumn("d", first=True)], ""),
        ([AddColumn(("s", "n"), INT), DropColumn(("s", "a")), *again("s.n"), RenameColumn(("s", "b", "c"), "e")], ""),
    ],
)
def test_a_column_with_other_values(tmp_path, changes, found):
    typed = [(name, parse_sql_type(text, name), None) for name, text in COLUMNS.items()]
    table = Catalog(tmp_path).create_table("default", "t", create_schema(typed, [], [], {}))
    table.alter(SetOption("schema.evolution.cast", "explicit-null"))
    for one in changes:
        reload(table).alter(one)
    schemas = reload(table).schemas
    steps = [one.fields for one in schemas.between(0, schemas.list_ids()[-1])]
    said = next((one.why for one in changed_columns(steps)), "")
    assert found in said
    assert bool(found) == bool(said)


def test_columns_and_fields_that_got_another_name(tmp_path):
    typed = [(name, of(text), None) for name, text in COLUMNS.items()]
    table = Catalog(tmp_path).create_table("default", "t", create_schema(typed, [], [], {}))
    paths = [("v", "u"), ("w", "W"), ("s.b.c", "e"), ("s", "t"), ("l.element.x", "z"), ("m.value.y", "z")]
    for path, new in [*paths, ("d", "v")]:
        reload(table).alter(RenameColumn(tuple(path.split(".")), new))
    now = reload(table).schema
    found = {".".join(old): ".".join(new) for old, new in renamed_columns(table.schema.fields, now.fields)}
    assert found == {
        "v": "u", "d": "v", "s": "t", "s.b.c": "t.b.e", "l.element.x": "l.element.z", "m.value.y": "m.value.z"
    }  # fmt: skip
