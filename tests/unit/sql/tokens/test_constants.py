"""Constants of a statement: which strings have a plain value."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.tokens.constants import is_random, plain_string
from tablestore_engine.sql.tokens.lexer import tokenize


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a b'", "a b"),
        ("''", ""),
        ("r'a'", "a"),
        (r"R'a\b'", r"a\b"),
        ("'say \"a\"'", 'say "a"'),
        (r"'a\tb'", None),
        ("'it''s'", None),
        ('"a"', None),
        ('r"a"', None),
        ('R"a"', None),
        ("'${day}'", None),
        ("r'${day}'", None),
    ],
)
def test_plain_strings(text, value):
    assert plain_string(tokenize(text)[0]) == value


@pytest.mark.parametrize(
    ("sql", "random"),
    [("t.n + 1", False), ("if(Rand() < 1, 'a', uuid())", True), ("rand + 1", False), ("(SELECT 1) + rand()", False)],
)
def test_values_that_may_be_others_each_time(sql, random):
    assert is_random(sql) is random
