"""Texts of default values, as this engine and other writers store them, as SQL and as Arrow values."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.default_values import (
    Expression,
    declared_default,
    default_scalar,
    default_value_sql,
    expression_text,
    parsed_default,
)
from tablestore_engine.schema.types.sql_literals import spark_type
from tablestore_engine.schema.types.types import DataField, parse_field
from tablestore_engine.sql.tokens.default_clause import default_text
from tablestore_engine.sql.types.types import parse_sql_type


def column(kind, text):
    return DataField(0, "c", parse_sql_type(kind, "c"), default_value=text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int", "5", 5),
        ("int", "'5'", 5),
        ("bigint", " -7 ", -7),
        ("decimal(5, 2)", "1.005", Decimal("1.01")),
        ("double", "1e3", 1000.0),
        ("boolean", "true", True),
        ("string", "'it's'", "it's"),
        ("string", "current_date()", "current_date()"),
        ("char(4)", "'ab'", "ab  "),
        ("date", "2024-02-29", date(2024, 2, 29)),
        ("timestamp_ntz", "'2024-02-29 01:02:03.5'", datetime(2024, 2, 29, 1, 2, 3, 500_000)),
        ("binary", "'ab'", b"ab"),
        ("array<int>", "[1, null, 3]", [1, None, 3]),
        ("array<int>", "[]", []),
        ("map<string, int>", "{a -> 1, b -> 2}", [("a", 1), ("b", 2)]),
        ("struct<x: int, y: array<string>>", "{1, [a, b]}", {"x": 1, "y": ["a", "b"]}),
        ("int", None, None),
    ],
)
def test_constants(kind, text, value):
    assert default_scalar(column(kind, text)).as_py() == value
    assert not isinstance(parsed_default(column(kind, text)), Expression)


@pytest.mark.parametrize(
    ("kind", "sql"),
    [
        ("int", "1 + 2"),
        ("date", "current_date()"),
        ("date", "DATE '2024-02-29'"),
        ("timestamp", "current_timestamp()"),
        ("string", "uuid()"),
        ("binary", "X'00'"),
        ("array<int>", "array(1, 2)"),
        ("struct<x: int>", "named_struct('x', 1)"),
    ],
)
def test_expressions(kind, sql):
    field = column(kind, None)
    field = column(kind, expression_text(sql, field.type))
    assert parsed_default(field) == Expression(sql)
    assert declared_default(field) == sql
    assert default_value_sql(field, spark_type) == f"cast(({sql}) as {spark_type(field.type)})"
    with pytest.raises(SchemaError, match="computed by Spark"):
        default_scalar(field)


@pytest.mark.parametrize(
    ("kind", "text"), [("int", "300000000000"), ("date", "'2024-02-30'"), ("array<int>", "[x]"), ("char(1)", "'ab'")]
)
def test_values_of_another_type_are_named(kind, text):
    with pytest.raises(SchemaError, match="'c' cannot have the default value"):
        default_scalar(column(kind, text))


@pytest.mark.parametrize(
    ("kind", "text", "declared"),
    [
        ("int", "'5'", "5"),
        ("string", "5", "'5'"),
        ("string", "'it's'", "'it\\'s'"),
        ("date", "2024-02-29", "'2024-02-29'"),
        ("array<int>", "[1]", "cast(array(cast('1' as INT)) as ARRAY<INT>)"),
    ],
)
def test_declared(kind, text, declared):
    assert declared_default(column(kind, text)) == declared


@pytest.mark.parametrize("kind", ["string", "int", "array<int>"])
def test_default_null_is_kept_where_other_writers_do_not_see_it(kind):
    field = column(kind, default_text("c", parse_sql_type(kind, "c"), "null"))
    data = field.to_json()
    assert data["defaultNull"] is True
    assert "defaultValue" not in data
    assert parse_field(data) == field
    assert (declared_default(field), default_scalar(field).as_py()) == ("NULL", None)
    assert declared_default(column(kind, None)) is None
