"""Computed columns are added, renamed, given comments and dropped as options; the rest is refused."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import ColumnNotFound, SchemaError
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.computed_columns import all_columns, computed_columns
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    AddComputedColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
    SetColumnComment,
    SetNullability,
)
from tablestore_engine.schema.types.types import parse_type

INT = parse_type("INT")
PLAIN = create_schema([("id", INT, None), ("v", INT, None), ("w", INT, None)], ["id"])


def changed(*changes, schema=PLAIN):
    return apply_changes(schema, changes, 0)


def shown(schema):
    return all_columns(list(schema.field_names), computed_columns(schema.options), lambda one: f"{one.name}={one.sql}")


BASE = changed(AddComputedColumn("twice", "v * 2", "INT", "hi", after="ID"), AddComputedColumn("up", "v + 1"))


def test_they_are_put_where_they_should_be():
    assert shown(BASE) == ["id", "twice=v * 2", "v", "w", "up=v + 1"]
    assert BASE.field_names == PLAIN.field_names
    more = (AddComputedColumn("a", "1", after="twice"), AddComputedColumn("b", "2", first=True), AddColumn("x", INT))
    after = shown(changed(*more, schema=BASE))
    assert after == ["b=2", "id", "twice=v * 2", "a=1", "v", "w", "up=v + 1", "x"]
    assert changed(AddComputedColumn("UP", "7", if_not_exists=True), schema=BASE).options == BASE.options


def test_stored_columns_are_put_after_them():
    after = changed(AddColumn("x", INT, after="twice"), MoveColumn("v", after="UP"), schema=BASE)
    assert shown(after) == ["id", "twice=v * 2", "x", "w", "up=v + 1", "v"]
    first = changed(AddComputedColumn("a", "1", first=True), AddColumn("x", INT, after="a"))
    assert shown(first) == ["a=1", "x", "id", "v", "w"]


def test_they_are_changed_and_dropped():
    after = changed(RenameColumn("TWICE", "double"), SetColumnComment("up", "x"), schema=BASE)
    assert shown(after) == ["id", "double=v * 2", "v", "w", "up=v + 1"]
    assert [(one.comment, one.type_text) for one in computed_columns(after.options)] == [("hi", "INT"), ("x", "")]
    assert shown(changed(RenameColumn("up", "UP"), schema=BASE))[-1] == "UP=v + 1"
    assert shown(changed(DropColumn("twice"), schema=BASE)) == ["id", "v", "w", "up=v + 1"]
    left = changed(DropColumn("twice"), DropColumn("up"), DropColumn("v"), schema=BASE)
    assert (shown(left), left.options) == (["id", "w"], PLAIN.options)


@pytest.mark.parametrize(
    ("change", "error", "fragment"),
    [
        (AddComputedColumn("V", "1"), SchemaError, "column 'V' already"),
        (AddComputedColumn("up", "1"), SchemaError, "column 'up' already"),
        (AddComputedColumn("x", "1", after="nope"), ColumnNotFound, "'nope' does not exist"),
        (AddColumn("Up", INT), SchemaError, "'up' is computed"),
        (RenameColumn("v", "x"), SchemaError, "read by the computed column"),
        (RenameColumn("twice", "v"), SchemaError, "column 'v' already"),
        (RenameColumn("twice", "up"), SchemaError, "'up' is computed"),
        (RenameColumn("w", "up"), SchemaError, "'up' is computed"),
        (RetypeColumn("up", INT), SchemaError, "'up' is computed"),
        (MoveColumn("up", first=True), SchemaError, "'up' is computed"),
        (SetNullability("up", False), SchemaError, "'up' is computed"),
    ],
)
def test_impossible_changes_of_computed_columns_are_refused(change, error, fragment):
    with pytest.raises(error, match=fragment):
        changed(change, schema=BASE)
