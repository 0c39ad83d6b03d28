"""Conditions as equivalent predicates: judged by SQLite, for rows with nulls, as the condition itself."""

from __future__ import annotations

import itertools
import sqlite3

import pytest

from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, Predicate
from tablestore_engine.sql.query.exact_conditions import exact_predicate

COLUMNS = ("a", "b", "End")
VALUES = [None, 1, 2, 3]


def to_sql(predicate: Predicate) -> str:
    if isinstance(predicate, Compare):
        return f'("{predicate.column}" {predicate.op} {predicate.value})'
    if isinstance(predicate, In):
        return f'("{predicate.column}" IN ({", ".join(map(str, predicate.values))}))'
    if hasattr(predicate, "children"):
        word = " AND " if isinstance(predicate, And) else " OR "
        return f"({word.join(map(to_sql, predicate.children))})"
    return f'("{predicate.column}" IS {"NOT " if isinstance(predicate, IsNotNull) else ""}NULL)'


@pytest.mark.parametrize(
    "condition",
    [
        "a > 1",
        "2 >= A",
        "a <> 1",
        "a != 1 AND NOT b = 2",
        "NOT (a < 2 OR b IS NULL)",
        "NOT a BETWEEN 1 AND 2 AND b IN (1, 2) OR `End` == 3",
        "a NOT IN (1, 3) OR b NOT BETWEEN 2 AND 3",
        "NOT (a IN (1, 2) AND NOT b <= 1)",
        "NOT (a IS NOT NULL AND (b > 1 OR NOT b >= 2))",
        "a BETWEEN 1 AND 2 AND b BETWEEN 2 AND 3",
    ],
)
def test_it_is_true_false_and_null_for_the_same_rows(condition):
    predicate = exact_predicate(condition, COLUMNS)
    assert predicate is not None
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (a, b, `End`)")
    database.executemany("INSERT INTO t VALUES (?, ?, ?)", itertools.product(VALUES, repeat=3))
    found = database.execute(f"SELECT a, b, `End`, ({condition}), {to_sql(predicate)} FROM t").fetchall()
    assert len(found) == len(VALUES) ** 3
    assert [row for row in found if row[3] != row[4]] == []


def test_spellings_that_only_spark_has():
    one = Compare("a", "=", 1)
    assert exact_predicate("a <=> 1 -- it's", COLUMNS) == And((IsNotNull("a"), one))
    assert exact_predicate("! a", COLUMNS) == exact_predicate("a <> TRUE", COLUMNS)
    assert exact_predicate("NOT a <=> NULL", COLUMNS) == IsNotNull("a")


@pytest.mark.parametrize(
    "condition",
    [
        *("", "a >", "a > b", "a + 1 > 2", "length(a) > 1", "a LIKE 'x'", "missing > 1", "t.a > 1", "TRUE", "NOT"),
        *("a > 1 AND b > a", "a > 1 OR b > a", "NOT (b > a)", "a IN (1, NULL)", "a NOT IN (NULL)", "1 <=> a"),
        *(
            "a > 1 IS NULL",
            "a = 1 = TRUE",
            "(a > 1) = (b > 1)",
            "a NOT LIKE 'x'",
            "a IN (1, b)",
            "a BETWEEN NULL AND 1",
        ),
        *("CASE WHEN a > 1 THEN b > 1 END", "a > 1)", "(a > 1", "a > current_date", "a <> b", "a IS TRUE", "a[0] > 1"),
        *('a = "x"', r"a = 'x\n'", "a > 1 AND", "AND a > 1", "a IS DISTINCT FROM 1", "a <=> NULL OR"),
        *("a > ALL (1)", "a BETWEEN NULL AND 1"),
        "(" * 2_000 + "a > 1" + ")" * 2_000,
    ],
)
def test_other_conditions_are_not_read(condition):
    assert exact_predicate(condition, COLUMNS) is None
