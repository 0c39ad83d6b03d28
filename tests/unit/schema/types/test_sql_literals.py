"""Types as Spark shows and declares them, quoted names, and literals."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest

from tablestore_engine.schema.types.sql_literals import (
    declared_type,
    literal,
    quoted_name,
    quoted_text,
    spark_type,
    unquoted_name,
)
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.cursor import string_value
from tablestore_engine.sql.tokens.lexer import tokenize
from tablestore_engine.sql.types.types import parse_sql_type


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


def test_quoted_name():
    assert quoted_name("a`b c") == "`a``b c`"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (False, "FALSE"),
        (-(2**63), "-9223372036854775808"),
        (2**70, str(2**70)),
        (-0.0, "-0.0D"),
        (1e300, "1e+300D"),
        (float("nan"), "double('nan')"),
        (float("-inf"), "double('-inf')"),
        (Decimal("1E+2"), "100BD"),
        (Decimal("-1.20"), "-1.20BD"),
        (Decimal("1E-38"), "0.00000000000000000000000000000000000001BD"),
        (date(24, 1, 2), "DATE '0024-01-02'"),
        (datetime(2024, 1, 2, 3), "TIMESTAMP_NTZ '2024-01-02 03:00:00'"),
        (datetime(2024, 1, 2, 3, tzinfo=timezone(timedelta(hours=-2))), "TIMESTAMP '2024-01-02 03:00:00-02:00'"),
        (time(1, 2, 3, 4), "TIME '01:02:03.000004'"),
        (bytearray(b"\x00\xff"), "X'00ff'"),
        ('$1 {a} "q" ä\n', "'$1 {a} \"q\" ä\n'"),
        ("it's", "cast(X'69742773' as string)"),
        ("\\%", "cast(X'5c25' as string)"),
        ("${env}", "cast(X'247b656e767d' as string)"),
    ],
)
def test_literals(value, text):
    assert literal(value) == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (7, "TINYINT", "7Y"),
        (-7, "SMALLINT", "-7S"),
        (7, "INT", "7"),
        (7, "BIGINT", "7L"),
        (0.5, "FLOAT", "0.5F"),
        (float("inf"), "FLOAT", "float('inf')"),
        (0.5, "DOUBLE", "0.5D"),
        (Decimal("0.5"), "DECIMAL(3, 1)", "0.5BD"),
        (datetime(2024, 1, 2), "TIMESTAMP_LTZ(6)", "TIMESTAMP '2024-01-02 00:00:00'"),
        (datetime(2024, 1, 2), "TIMESTAMP(6)", "TIMESTAMP_NTZ '2024-01-02 00:00:00'"),
    ],
)
def test_literals_of_a_type(value, kind, text):
    kind = parse_type("TIMESTAMP(6) WITH LOCAL TIME ZONE" if kind == "TIMESTAMP_LTZ(6)" else kind)
    assert literal(value, kind) == text


@pytest.mark.parametrize("value", [[1], {"a": 1}, object(), Decimal("NaN"), Decimal("Infinity")])
def test_values_without_a_literal(value):
    with pytest.raises(TypeError, match=f"A {type(value).__name__} cannot be written"):
        literal(value)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, None),
        (-7, "TINYINT"),
        (-(2**63), "BIGINT"),
        (1.5, "DOUBLE"),
        (Decimal("-1.20"), None),
        ("plain", None),
        (date(2024, 1, 2), None),
        (datetime(2024, 1, 2, 3, 4, 5, 6), None),
        (datetime(2024, 1, 2, 3, tzinfo=timezone(timedelta(hours=-2))), None),
    ],
)
def test_the_parser_reads_literals_as_constants(value, kind):
    tokens = tokenize(literal(value, parse_type(kind) if kind else None))
    assert constant_at(tokens, 0) == (value, len(tokens) - 1)


@pytest.mark.parametrize("name", ["a", "a b", "a`b", "``", "`", "a.b", ""])
def test_a_quoted_name_is_read_as_the_name(name):
    assert unquoted_name(quoted_name(name)) == name


@pytest.mark.parametrize(("text", "name"), [(" a ", "a"), ("`a", "`a"), (" `a` ", "a"), ("`", "`")])
def test_a_text_without_both_quotes_is_the_name(text, name):
    assert unquoted_name(text) == name
