"""Expressions are read with the precedence of Spark's operators, or not at all."""

from __future__ import annotations

from datetime import date

import pytest

from tablestore_engine.schema.expressions.expression import Call, ColumnValue, Literal
from tablestore_engine.sql.query.row_expressions import read_expression

COLUMNS = ["a", "b", "End", "c"]


def text_of(expression):
    """The expression with all of its parentheses, operators first."""
    if isinstance(expression, ColumnValue):
        return expression.name
    if isinstance(expression, Literal):
        return "NULL" if expression.type is None else f"{expression.value!r}:{expression.type}"
    return f"{expression.name}({', '.join(map(text_of, expression.arguments))})"


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("a + b * c > 1 AND NOT b = c OR a", "OR(AND(>(+(a, *(b, c)), 1:INT), NOT(=(b, c))), a)"),
        ("a - b - c = -1", "=(-(-(a, b), c), -1:INT)"),
        ("A -1 > - b", ">(-(a, 1:INT), -(b))"),
        ("a NOT BETWEEN 1 AND b AND `end` IS NOT NULL", "AND(NOT(BETWEEN(a, 1:INT, b)), NOT(IS NULL(End)))"),
        ("a NOT IN (1, b, NULL)", "NOT(IN(a, 1:INT, b, NULL))"),
        ("a > 1 IS NULL", "IS NULL(>(a, 1:INT))"),
        ("! a == b <> c", "NOT(NOT(=(=(a, b), c)))"),
        ("(a OR b) AND c", "AND(OR(a, b), c)"),
        ("a IS NOT DISTINCT FROM b", "NOT(NOT(<=>(a, b)))"),
        ("a IS NOT TRUE", "NOT(<=>(a, True:BOOLEAN))"),
        ("a NOT LIKE 'x%' || b", "NOT(LIKE(a, ||('x%':STRING, b)))"),
        ("Length(a) % 2 = b DIV 3", "=(%(LENGTH(a), 2:INT), DIV(b, 3:INT))"),
        ("coalesce(a, b, 1.50) <= 2L", "<=(COALESCE(a, b, Decimal('1.50'):DECIMAL(3, 2)), 2:BIGINT)"),
        ("a IN (1e0, 5Y, 3000000000)", "IN(a, 1.0:DOUBLE, 5:TINYINT, 3000000000:BIGINT)"),
        ("a < 0.05", "<(a, Decimal('0.05'):DECIMAL(2, 2))"),
        ("a = -2147483648 AND b = 2147483648", "AND(=(a, -2147483648:INT), =(b, 2147483648:BIGINT))"),
    ],
)  # fmt: skip
def test_the_tree_is_that_of_spark(sql, wanted):
    assert text_of(read_expression(sql, COLUMNS)) == wanted


def test_constants_have_the_types_of_spark():
    found = read_expression("a = DATE '2024-02-29'", COLUMNS)
    assert isinstance(found, Call)
    assert found.arguments[1].value == date(2024, 2, 29)
    for sql, kind in (
        ("'2024-02-29'::date", "DATE"),
        ("TIMESTAMP '2024-01-01 00:00:00Z'", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("TIMESTAMP_NTZ '2024-01-01 00:00:00'", "TIMESTAMP(6)"),
        ("12345678901234567890", "DECIMAL(20, 0)"),
        ("300S", "SMALLINT"),
        ("1.0BD", "DECIMAL(2, 1)"),
        ("1.5D", "DOUBLE"),
    ):
        assert str(read_expression(f"a = {sql}", COLUMNS).arguments[1].type) == kind


@pytest.mark.parametrize(
    "sql",
    [
        *(
            "",
            "a >",
            "missing > 1",
            "t.a > 1",
            "NOT",
            "a > 1)",
            "(a > 1",
            "a > 1 AND",
            "AND a > 1",
            "a[0] > 1",
            "a.b = 1",
        ),
        *("CASE WHEN a > 1 THEN b > 1 END", "a > current_date", "a IN (SELECT 1)", "a IN ()", "f()"),
        *('a = "x"', r"a = 'x\n'", "a = 'x' 'y'", "a LIKE 'x' ESCAPE '/'", "a RLIKE 'x'", "a <=> NULL OR", "a & 1 = 1"),
        *("CAST(a AS INT) = 1", "a::int = 1", "5::bigint = a", "a = 1.5F", "a = 300Y", "a IS NULL IS NULL", "~a = 1"),
        *("a = TIMESTAMP '2024-01-01'", "+ a > 1", "a = 1 COLLATE x", "a = INTERVAL 1 DAY", "EXISTS (SELECT 1)"),
        "a = " + "1" * 40,
        "(" * 2_000 + "a > 1" + ")" * 2_000,
        "NOT " * 5_000 + "a > 1",
    ],
)
def test_other_expressions_are_not_read(sql):
    assert read_expression(sql, COLUMNS) is None
