"""The columns of a MERGE's target that equal columns of its source, according to the statement."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyspark.sql import types as T

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Resolver
from tablestore_engine.schema.types.types import DataField, parse_type
from tablestore_engine.spark.read.merge_source_bounds import comparable_columns, one_key_if_equal
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.row_level.merge_as_upsert import equal_columns, upsert_keys

TARGET = {
    "id": "INT", "Day": "DATE", "name": "STRING", "price": "DECIMAL(10, 2)", "f": "DOUBLE", "at": "TIMESTAMP(6)",
    "local": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "code": "VARCHAR(5)", "only": "BIGINT", "big": "DECIMAL(38, 0)",
    "flag": "BOOLEAN", "raw": "VARBINARY(8)", "single": "FLOAT",
}  # fmt: skip
SOURCE = {
    "id": T.LongType(), "day": T.DateType(), "name": T.StringType(), "price": T.DecimalType(12, 4), "f": T.DoubleType(),
    "at": T.TimestampNTZType(), "local": T.TimestampType(), "code": T.StringType(), "key": T.IntegerType(),
    "fine": T.DecimalType(38, 18), "text": T.StringType(), "folded": T.StringType("UTF8_LCASE"), "twice": T.IntegerType(), "Twice": T.IntegerType(),  # noqa: E501
    "flag": T.BooleanType(), "raw": T.BinaryType(), "single": T.FloatType(),
}  # fmt: skip


FIELDS = tuple(DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(TARGET.items()))
SCHEMA = TableSchema(id=0, fields=FIELDS, highest_field_id=20, partition_keys=(), primary_keys=(), options={})
GIVEN = T.StructType([T.StructField(name, kind) for name, kind in SOURCE.items()])


def found(on, source="source AS s", target="db.t AS t"):
    schema, rows = SCHEMA, SimpleNamespace(schema=GIVEN)
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
        ("t.flag = s.flag AND t.raw = s.raw", [("flag", "flag"), ("raw", "raw")]),
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


@pytest.mark.parametrize(
    ("column", "given", "alike"),
    [
        ("id", "id", True), ("price", "price", True), ("code", "text", True), ("flag", "flag", True),
        ("raw", "raw", True), ("f", "f", True), ("single", "single", True),
        ("f", "single", True),  # each float is a double
        ("single", "f", False),  # 0.1 as a double equals no float
        ("f", "id", False), ("id", "f", False), ("raw", "text", False), ("name", "raw", False), ("id", "flag", False),
        ("name", "folded", False),
    ],
)  # fmt: skip
def test_values_that_are_equal_where_they_are_one_key(column, given, alike):
    assert one_key_if_equal([(column, given)], SCHEMA, GIVEN) is alike
    assert not one_key_if_equal([(column, given), ("id", "text")], SCHEMA, GIVEN)


UPSERTS = [
    ("t.id = s.id", "UPDATE SET *", "INSERT *"),
    ("(s.id = t.id)", "UPDATE SET *", "INSERT *"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = s.w", "INSERT (id, v, w) VALUES (id, v, s.w)"),
    ("t.id = s.id", "UPDATE SET id = s.id, w = s.w, v = s.v", "INSERT (ID, V, W) VALUES (s.id, s.v, s.w)"),
    ("t.id = s.id", "UPDATE SET t.v = s.`x`, w = s.w", "INSERT (w, v, id) VALUES (w, x, id)"),
    ("t.id = s.key", "UPDATE SET v = s.v, w = s.w", "INSERT (id, v, w) VALUES (s.key, v, w)"),
    ("t.id = s.id", "UPDATE SET *", "INSERT (id, v, w) VALUES (id, v, w)"),
]
NO_UPSERTS = [
    # other rows match
    ("t.id = s.id AND t.v > 1", "UPDATE SET *", "INSERT *"),
    ("t.id = s.id AND s.v > 1", "UPDATE SET *", "INSERT *"),
    ("t.id = s.id OR t.v = s.v", "UPDATE SET *", "INSERT *"),
    ("t.id = s.id AND t.id = s.key", "UPDATE SET *", "INSERT *"),
    ("NOT (t.id = s.id)", "UPDATE SET *", "INSERT *"),
    ("t.v = s.v", "UPDATE SET *", "INSERT *"),
    ("t.id <=> s.id", "UPDATE SET *", "INSERT *"),
    # a row becomes another one when it matches
    ("t.id = s.key", "UPDATE SET *", "INSERT *"),
    ("t.id = s.id", "UPDATE SET v = s.v", "INSERT *"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = t.w", "INSERT *"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = s.w + 1", "INSERT *"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = t.w + s.w", "INSERT *"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = s.x", "INSERT (id, v, w) VALUES (id, v, w)"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = s.w", "INSERT (id, v) VALUES (id, v)"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = NULL", "INSERT (id, v, w) VALUES (id, v, NULL)"),
    ("t.id = s.id", "UPDATE SET v = s.v, w = s.w", "INSERT (id, v, w) VALUES (s.key, v, w)"),
    ("t.id = s.id", "DELETE", "INSERT *"),
]


@pytest.mark.parametrize(("on", "update", "insert", "is_upsert"), [
    *((*one, True) for one in UPSERTS), *((*one, False) for one in NO_UPSERTS),
])  # fmt: skip
def test_merge_that_is_an_upsert(on, update, insert, is_upsert):
    text = f"MERGE INTO db.t AS t USING s ON {on} WHEN MATCHED THEN {update} WHEN NOT MATCHED THEN {insert}"
    found = upsert_keys(parse(text), ["id"], ["id", "v", "w"], ["id", "v", "w", "x", "key"])
    assert (found is not None) is is_upsert


@pytest.mark.parametrize(
    ("on", "update", "insert"),
    [
        ("t.ID = s.id", "v = s.v", "id, v"),
        ("t.id = s.ID", "v = s.v", "id, v"),
        ("T.id = s.id", "v = s.v", "id, v"),
        ("t.id = s.id", "V = s.v", "id, v"),
        ("t.id = s.id", "v = s.V", "id, v"),
        ("t.id = s.id", "v = S.v", "id, v"),
        ("t.id = s.id", "v = s.v", "s.id, s.V"),
    ],
)
def test_names_are_spelled_if_case_counts(on, update, insert):
    """No upsert then: Spark reads the names."""
    text = f"MERGE INTO t USING s ON {on} WHEN MATCHED THEN UPDATE SET {update} "
    text += f"WHEN NOT MATCHED THEN INSERT (id, v) VALUES ({insert})"
    names = (["id"], ["id", "v"], ["id", "v"])
    assert upsert_keys(parse(text), *names) is not None
    assert upsert_keys(parse(text), *names, Resolver(lambda: True)) is None
    assert upsert_keys(parse(text.lower()), *names, Resolver(lambda: True)) is not None


@pytest.mark.parametrize(
    "clauses",
    [
        "WHEN MATCHED AND s.v > 1 THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND s.v > 1 THEN INSERT *",
        "WHEN MATCHED THEN UPDATE SET *",
        "WHEN NOT MATCHED THEN INSERT *",
        "WHEN MATCHED AND s.v > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE",
    ],
)
def test_clauses_of_which_not_every_row_is_upserted(clauses):
    text = f"MERGE INTO t USING s ON t.id = s.id {clauses}"
    assert upsert_keys(parse(text), ["id"], ["id", "v"], ["id", "v"]) is None


def test_every_column_of_the_key_is_compared():
    text = "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    assert upsert_keys(parse(text), ["a", "b"], ["a", "b"], ["a", "b"]) is None
    assert upsert_keys(parse(text.replace("ON", "ON t.b = s.b AND")), ["a", "b"], ["a", "b"], ["a", "b"]) is not None
