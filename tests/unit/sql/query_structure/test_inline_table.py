"""VALUES behind FROM: rows, or a name. Spark's own parser judges the statements of tests/spark/sql/statements."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query_structure.inline_table import begins_rows
from tablestore_engine.sql.tokens.lexer import tokenize


@pytest.mark.parametrize(
    "text",
    ["(1, 2)", "1, 2", "'a'", "-1", "? AS t", ":x", "f(1)", "f()", "struct(a, 1)", "date'2026-01-01'", "interval 1 day",
     "case when a then 1 end", "a.b + 1", "x || 'y'"],
)  # fmt: skip
def test_rows(text):
    assert begins_rows(tokenize(text), 0)


@pytest.mark.parametrize(
    "text",
    ["", ")", ", b", ".t", "= 1", "v", "AS v", "v, w", "v(a)", "v(a, b)", "`v` JOIN b", "WHERE a = 1", "JOIN b",
     "* 2", "IS NULL", "IN (1)", "AND (x)"],
)  # fmt: skip
def test_a_name(text):
    assert not begins_rows(tokenize(text), 0)
