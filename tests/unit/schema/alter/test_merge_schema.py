"""Which schema changes the columns of incoming rows ask for."""

from __future__ import annotations

import pytest
from support.tables import schema_of

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.alter.merge_schema import Merging, merging_changes
from tablestore_engine.schema.table.schema_changes import AddColumn, RetypeColumn
from tablestore_engine.schema.types.names import Resolver
from tablestore_engine.sql.types.types import parse_sql_type

SCHEMA = schema_of({"id": "INT", "v": "INT", "t": "STRING"}, primary_keys=["id"])


def kind(text):
    return parse_sql_type(text, "c")


@pytest.mark.parametrize(
    ("incoming", "explicit", "changes"),
    [
        ([("ID", "int"), ("v", "int")], False, []),
        ([("new", "bigint")], False, [AddColumn(("new",), kind("bigint"), None, by_case=True)]),
        ([("v", "bigint")], False, [RetypeColumn(("v",), kind("bigint"))]),
        ([("v", "tinyint"), ("t", "int"), ("id", "bigint")], False, []),
        ([("v", "string")], False, []),
        ([("v", "int"), ("V", "int")], False, [AddColumn(("V",), kind("int"), None, by_case=True)]),
        ([("v", "string")], True, [RetypeColumn(("v",), kind("string"))]),
    ],
)
def test_changes(incoming, explicit, changes):
    columns = [(name, kind(text), None) for name, text in incoming]
    assert merging_changes(SCHEMA, columns, Merging(explicit)) == changes


def test_fields_of_structs():
    schema = schema_of({"id": "INT", "s": kind("struct<a: int, l: array<struct<b: int>>>").to_json()})
    given = kind("struct<a: bigint, c: string, l: array<struct<b: int, d: int>>>")
    assert merging_changes(schema, [("s", given, None)], Merging()) == [
        RetypeColumn(("s", "a"), kind("bigint")),
        AddColumn(("s", "c"), kind("string"), None, by_case=True),
        AddColumn(("s", "l", "element", "d"), kind("int"), None, by_case=True),
    ]
    assert (
        merging_changes(schema, [("s", kind("struct<col1: int, col2: array<struct<b: int>>>"), None)], Merging()) == []
    )


def test_new_columns_may_be_null_at_any_depth():
    given = kind("struct<x: int not null, l: array<struct<y: int not null>>>")
    (new,) = merging_changes(SCHEMA, [("new", given, None)], Merging())
    assert new.type == kind("struct<x: int, l: array<struct<y: int>>>")


def test_columns_that_repeat():
    with pytest.raises(SchemaError, match="two columns named 'B'"):
        merging_changes(SCHEMA, [("B", kind("int"), None), ("B", kind("int"), None)], Merging())


def test_names_in_another_case_are_new_where_case_counts():
    schema = schema_of({"id": "INT", "s": kind("struct<a: int>").to_json()})
    incoming = [("ID", kind("int"), None), ("s", kind("struct<A: int, a: int>"), None)]
    assert merging_changes(schema, incoming, Merging(resolver=Resolver(lambda: True))) == [
        AddColumn(("ID",), kind("int"), None, by_case=True),
        AddColumn(("s", "A"), kind("int"), None, by_case=True),
    ]
