"""Constants of a statement: which strings have a plain value."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.tokens.constants import plain_string
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
    ],
)
def test_plain_strings(text, value):
    assert plain_string(tokenize(text)[0]) == value
