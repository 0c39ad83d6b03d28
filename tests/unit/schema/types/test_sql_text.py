"""Types as Spark shows and declares them."""

from __future__ import annotations

import pytest

from tablestore_engine.schema.types.sql_text import declared_type, quoted_text, spark_type
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.text.cursor import string_value
from tablestore_engine.sql.text.types import parse_sql_type


@pytest.mark.parametrize(
    "shown",
    ["boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(10,2)", "char(3)", "varchar(7)",
     "string", "binary", "date", "timestamp", "timestamp_ntz", "array<int>", "map<string,array<date>>",
     "struct<a:int,b:struct<c:string>>"],
)  # fmt: skip
def test_shown_and_declared_types_are_read_back(shown):
    kind = parse_sql_type(shown)
    assert spark_type(kind) == shown
    assert parse_sql_type(declared_type(kind)) == kind


@pytest.mark.parametrize(
    ("text", "shown"), [("BINARY(3)", "binary"), ("TIMESTAMP(3)", "timestamp_ntz"), ("TIME(3)", "time(3)")]
)
def test_types_of_other_writers(text, shown):
    assert spark_type(parse_type(text)) == shown


def test_declared_structs_keep_everything():
    text = "struct<`a b`: int not null comment 'it\\'s', c: array<struct<d: string>>>"
    kind = parse_sql_type(text)
    assert parse_sql_type(declared_type(kind)) == kind


@pytest.mark.parametrize("text", ["", "it's", 'a "b"', "back\\slash", "two\nlines", "\\%", "%_", "''", "ä€\t"])
def test_quoted_text(text):
    assert string_value(quoted_text(text)) == text
