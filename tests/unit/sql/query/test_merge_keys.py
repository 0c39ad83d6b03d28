"""The columns of a MERGE's target that equal columns of its source, according to the statement."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyspark.sql import types as T

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField, parse_type
from tablestore_engine.spark.read.source_bounds import comparable_columns
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.query.merge_keys import equal_columns

TARGET = {
    "id": "INT", "Day": "DATE", "name": "STRING", "price": "DECIMAL(10, 2)", "f": "DOUBLE", "at": "TIMESTAMP(6)",
    "local": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "code": "VARCHAR(5)", "only": "BIGINT", "big": "DECIMAL(38, 0)",
}  # fmt: skip
SOURCE = {
    "id": T.LongType(), "day": T.DateType(), "name": T.StringType(), "price": T.DecimalType(12, 4), "f": T.DoubleType(),
    "at": T.TimestampNTZType(), "local": T.TimestampType(), "code": T.StringType(), "key": T.IntegerType(),
    "fine": T.DecimalType(38, 18), "text": T.StringType(), "folded": T.StringType("UTF8_LCASE"), "twice": T.IntegerType(), "Twice": T.IntegerType(),  # noqa: E501
}  # fmt: skip


def found(on, source="source AS s", target="db.t AS t"):
    fields = tuple(DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(TARGET.items()))
    schema = TableSchema(
        id=0, fields=fields, highest_field_id=len(fields), partition_keys=(), primary_keys=(), options={}
    )
    rows = SimpleNamespace(schema=T.StructType([T.StructField(name, kind) for name, kind in SOURCE.items()]))
    statement = parse(f"MERGE INTO {target} USING {source} ON {on} WHEN MATCHED THEN DELETE")
    return comparable_columns(equal_columns(statement, schema.field_names, list(SOURCE)), schema, rows)


@pytest.mark.parametrize(
    ("on", "pairs"),
    [
        ("t.id = s.id", [("id", "id")]),
        ("s.ID == T.`id`", [("id", "id")]),
        ("only = key", [("only", "key")]),
        ("t.only = s.id AND (s.day = t.day) AND t.f > 1", [("only", "id"), ("Day", "day")]),
        ("((t.id = s.key) AND t.id > 5)", [("id", "key")]),
        ("t.name = s.text AND t.price = s.price", [("name", "text"), ("price", "price")]),
        ("t.at = s.at AND t.local = s.local", [("at", "at"), ("local", "local")]),
        ("t.code = s.code", [("code", "code")]),
        ("t.price = s.fine", [("price", "fine")]),
        # columns that need not be equal
        ("t.id = s.id OR t.day = s.day", []),
        ("NOT (t.id = s.id)", []),
        ("NOT t.id = s.id", []),
        ("t.id <=> s.id", []),
        ("t.id >= s.id AND t.id <= s.key", []),
        ("(t.id = s.id) IS NOT TRUE", []),
        ("t.id = s.id = false", []),
        ("t.id = s.id + 1", []),
        ("t.id = -s.id", []),
        ("t.id = abs(s.id)", []),
        ("CASE WHEN t.id = s.id THEN false ELSE true END", []),
        # values that Spark converts before it compares them, or compares by rules of its own
        ("t.id = s.text", []),
        ("t.day = s.text", []),
        ("t.f = s.f", []),
        ("t.at = s.local", []),
        ("t.name = s.folded", []),
        ("t.price = s.id", []),
        ("t.big = s.fine", []),  # 1.4 is 1 there
        # a condition on one side only, or a column whose owner is not known
        ("t.id = t.only", []),
        ("s.id = s.key", []),
        ("t.id = 5", []),
        ("id = key", []),
        ("t.id = x.key", []),
        ("t.id = s.twice", []),
    ],
)
def test_columns_that_are_equal(on, pairs):
    assert found(on) == pairs


@pytest.mark.parametrize(
    ("on", "source", "target"),
    [
        ("t.only = source.key", "source", "db.t"),
        ("db.t.only = db.source.key", "db.source", "db.t"),
        ("t.only = key", "(SELECT 1)", "t"),
        ("DB.T.only = u.key", "(SELECT 1) u", "db.t"),
    ],
)
def test_names_of_both_sides(on, source, target):
    assert found(on, source, target) == [("only", "key")]


def test_both_sides_of_one_name():
    assert found("t.only = t.key", "other.t", "db.t") == [("only", "key")]
    assert found("t.id = t.id", "other.t", "db.t") == []
    assert found("db.t.id = other.t.id", "other.t", "db.t") == [("id", "id")]
