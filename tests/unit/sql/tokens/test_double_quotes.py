"""Names in double quotes become names in backquotes; strings do not change."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.tokens.double_quotes import with_backquotes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('select "a", \'"b"\' from "db"."t" -- "c"', "select `a`, '\"b\"' from `db`.`t` -- \"c\""),
        ('select "a""b`c", r"x" /* "d" */', 'select `a"b``c`, r"x" /* "d" */'),
        ('select `"a"`, $$"b"$$', 'select `"a"`, $$"b"$$'),
    ],
)  # fmt: skip
def test_names(text, expected):
    assert with_backquotes(text) == expected
