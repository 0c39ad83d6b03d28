"""Text that nests too deeply for a parser gets one message, with the limit; text at the limit is read."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import ParseError, UnsupportedTypeError
from tablestore_engine.sql.parse.parse import MOST_LEVELS, parse
from tablestore_engine.sql.statements.statement import Query
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.lexer import tokenize
from tablestore_engine.sql.types.types import MOST_TYPE_LEVELS, parse_sql_type

DEEP = 1_000
TYPES = ("ARRAY<", "MAP<INT, ", "STRUCT<a: ")
EXPRESSIONS = {
    "parentheses": ("(", "1", ")"),
    "calls": ("abs(", "1", ")"),
    "CASE": ("CASE WHEN a THEN ", "1", " END"),
    "CAST": ("CAST(", "1", " AS INT)"),
    "NOT": ("NOT ", "a", ""),
    "minus": ("- ", "1", ""),
    "both": ("! ~(", "1", ")"),
}
DOORS = {
    "a default": "CREATE TABLE t (a INT DEFAULT {})",
    "a new default": "ALTER TABLE t ALTER COLUMN a SET DEFAULT {}",
    "a computed column": "CREATE TABLE t (a INT, c INT AS ({}))",
    "a condition": "DELETE FROM t WHERE {} = 1",
    "a value": "UPDATE t SET a = {}",
    "a merge": "MERGE INTO t USING s ON t.a = {} WHEN MATCHED THEN DELETE",
    "an argument": "CALL sys.compact(table => {})",
    "a partition": "ALTER TABLE t DROP PARTITION (dt = {})",
    "a function": "CREATE FUNCTION f (x INT) RETURNS INT RETURN {}",
    "a query": "SELECT {}",
}


def nested(levels, opening, inside, closing):
    return opening * levels + inside + closing * levels


@pytest.mark.parametrize("opening", TYPES)
def test_a_type_has_a_limit(opening):
    at_limit = nested(MOST_TYPE_LEVELS - 1, opening, "INT", ">")
    assert str(parse_sql_type(at_limit)).count("INT"), "the deepest type that a table can hold"
    for levels in (MOST_TYPE_LEVELS, DEEP):
        with pytest.raises(
            UnsupportedTypeError, match=rf"^Column a has a type with more than {MOST_TYPE_LEVELS} levels"
        ):
            parse_sql_type(nested(levels, opening, "INT", ">"), "a")


def test_types_next_to_each_other_are_not_levels():
    fields = ", ".join(f"f{number}: ARRAY<INT>" for number in range(3 * MOST_TYPE_LEVELS))
    assert len(parse_sql_type(f"STRUCT<{fields}>").fields) == 3 * MOST_TYPE_LEVELS


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_an_expression_has_a_limit(door, expression):
    with pytest.raises(ParseError, match=f"in more than {MOST_LEVELS} levels") as refusal:
        parse(door.format(nested(DEEP, *expression)))
    assert len(str(refusal.value)) < 200, "the message leaves the text out"


def test_a_query_at_the_limit_is_read():
    assert isinstance(parse("SELECT " + nested(MOST_LEVELS, "(", "1", ")")), Query)
    rows = ", ".join(["(1)"] * 3 * MOST_LEVELS)
    parse(f"INSERT INTO t VALUES {rows}")
    many = " AND ".join(["NOT a > - b - + 1 - f(-1)"] * 3 * MOST_LEVELS)
    parse(f"SELECT {many}")


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("CAST(", " AS INT)")])
def test_a_constant_in_many_levels_is_not_certain(opening, closing):
    assert constant_at(tokenize(nested(50, opening, "1", closing)), 0)[0] == 1
    assert constant_at(tokenize(nested(MOST_LEVELS, opening, "1", closing)), 0) is None
