"""A query's columns fitted to a table's; only the schema of the result is looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import schema_of

from tablestore_engine.errors import SchemaError, SqlError
from tablestore_engine.schema.types.types import ArrayType, with_nulls
from tablestore_engine.spark.expressions.spark_types import columns_of, to_spark_schema
from tablestore_engine.spark.write.align_columns import align

pytestmark = pytest.mark.spark

SCHEMA = schema_of({"id": "BIGINT", "v": "DECIMAL(5, 2)", "P": "STRING"})


def first(frame):
    return tuple(map(str, frame.first()))


def test_by_position(spark):
    assert first(align(spark.sql("SELECT 1 AS a, 2 AS b, 3 AS c"), SCHEMA)) == ("1", "2.00", "3")


def test_columns_of_one_name_are_taken_by_position(spark):
    assert first(align(spark.sql("SELECT 1 AS a, 2 AS a, 3 AS a"), SCHEMA)) == ("1", "2.00", "3")


def test_by_name_without_regard_to_case(spark):
    frame = align(spark.sql("SELECT 'x' AS p, 1 AS ID"), SCHEMA, by_name=True)
    assert frame.columns == ["id", "v", "P"]
    assert first(frame) == ("1", "None", "x")


def test_column_list_and_static_values(spark):
    assert first(align(spark.sql("SELECT 5"), SCHEMA, ["ID"], {"P": "'s'"})) == ("5", "None", "s")
    assert first(align(spark.sql("SELECT 5, 6"), SCHEMA, static={"P": "'s'"})) == ("5", "6.00", "s")


@pytest.mark.parametrize(
    ("query", "arguments", "words"),
    [
        ("SELECT 1", {}, "returns 1 column"),
        ("SELECT 1, 2", {"columns": ["id", "ID"]}, "twice"),
        ("SELECT 1 AS nope", {"by_name": True}, "nope"),
        ("SELECT 1 AS id, 2 AS ID", {"by_name": True}, "twice"),
        ("SELECT 1 AS p", {"by_name": True, "static": {"P": "'s'"}}, "twice"),
        ("SELECT 1", {"columns": ["p"], "static": {"P": "'s'"}}, "twice"),
    ],
)
def test_columns_that_do_not_fit_are_refused(spark, query, arguments, words):
    with pytest.raises(SchemaError, match=words):
        align(spark.sql(query), SCHEMA, **arguments)


def test_a_column_that_needs_a_value(spark):
    schema = schema_of({"id": "INT", "v": "INT NOT NULL"})
    with pytest.raises(SchemaError, match="'v' is NOT NULL"):
        align(spark.sql("SELECT 1"), schema, ["id"])


def test_types_that_cannot_be_cast(spark):
    with pytest.raises((SqlError, SchemaError)):
        align(spark.sql("SELECT map(1, 2), 1, 'x'"), SCHEMA)


def test_types_there_and_back(spark):
    kinds = {
        "a": "TINYINT", "b": "SMALLINT", "c": "INT", "d": "BIGINT", "e": "FLOAT", "f": "DOUBLE", "g": "DECIMAL(38, 9)",
        "h": "STRING", "i": "BYTES", "j": "BOOLEAN", "k": "DATE", "l": "TIMESTAMP(6)", "m": "CHAR(3)", "n": "VARCHAR(9)",  # noqa: E501
        "o": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "p": {"type": "ARRAY", "element": "INT NOT NULL"},
        "q": {"type": "MAP", "key": "STRING NOT NULL", "value": {"type": "ARRAY", "element": "DATE"}},
    }  # fmt: skip
    schema = schema_of(kinds)
    struct = to_spark_schema(schema.fields)
    again = schema_of({n: t.to_json() for n, t, _ in columns_of(struct)})
    for before, after in zip(schema.fields, again.fields, strict=True):
        if before.name not in ("m", "n"):  # Spark hands CHAR and VARCHAR over as strings
            assert str(with_nulls(before.type)) == str(after.type), before.name
    assert spark.createDataFrame([], struct).schema.fieldNames() == list(kinds)


def test_default_values_of_other_tools(spark):
    """They fill what a statement leaves out, and nothing else."""
    schema = schema_of({"id": "BIGINT", "d": "DATE", "t": "STRING"})
    defaults = {"d": "2024-02-29", "t": "'it is'"}
    fields = tuple(
        replace(f, default_value=defaults.get(f.name), type=f.type.as_nullable(f.name != "t")) for f in schema.fields
    )
    theirs = replace(schema, fields=fields)
    assert first(align(spark.sql("SELECT 1 AS id"), theirs, by_name=True)) == ("1", "2024-02-29", "it is")
    assert first(align(spark.sql("SELECT NULL AS d, 'x' AS t"), theirs, by_name=True)) == ("None", "None", "x")
    lists = replace(fields[0], type=ArrayType(fields[0].type), default_value="[1]")
    listed = replace(theirs, fields=(lists, *fields[1:]))
    assert first(align(spark.sql("SELECT 'x' AS t"), listed, by_name=True))[0] == "[1]"
    odd = replace(theirs, fields=(replace(lists, default_value="[1"), *fields[1:]))
    with pytest.raises(SchemaError, match="'id' has the default value"):
        align(spark.sql("SELECT 'x' AS t"), odd, by_name=True)
