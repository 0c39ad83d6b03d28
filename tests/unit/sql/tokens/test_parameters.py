"""Each parameter of a statement, and nothing else, is replaced by a literal."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.tokens.parameters import with_parameters

GIVEN = {"a": 1, "b": "it's ':a' \\ ?", "c": None, "int": 7}
TEXTS = {
    "select :a, :b": r"select 1, 'it\'s \':a\' \\ ?'",
    "select x from t where a=:a and b in (:a,:c)": "select x from t where a=1 and b in (1,NULL)",
    "select ':a', \":a\", `:a` -- :a\n, :a /* :a */": "select ':a', \":a\", `:a` -- :a\n, 1 /* :a */",
    "select x:a, f(x):a, x[0]:a, '1'::int, cast(x as struct<a:int>)": None,
    "select :unknown, :A, ? , a : b": None,
    "select * from t version as of :a": "select * from t version as of 1",
    "": None,
}


@pytest.mark.parametrize("text", TEXTS)
def test_named(text):
    assert with_parameters(text, GIVEN) == (text if TEXTS[text] is None else TEXTS[text])


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("select 10 -?", "select 10 - -5"),
        ("select 10-? -- rest", "select 10- -5 -- rest"),
        ("select ?and x", "select -5 and x"),
        ("limit?", "limit-5"),
        ("select (?)", "select (-5)"),
    ],
)
def test_a_value_stays_a_token_of_its_own(text, bound):
    assert with_parameters(text, [-5]) == bound


def test_a_named_value_stays_a_token_of_its_own():
    assert with_parameters("select 10 -:a", {"a": -5}) == "select 10 - -5"


def test_a_number_is_no_part_of_a_word():
    assert with_parameters("limit?union", [5]) == "limit 5 union"


def test_marks():
    assert with_parameters("select ?, '?' where x = ? -- ?", [2, "?"]) == "select 2, '?' where x = '?' -- ?"
    for values in ([], [1, 2]):
        with pytest.raises(SqlError, match=f"1 parameters, but {len(values)} values"):
            with_parameters("select ?", values)


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (True, "TRUE"),
        (-3, "-3"),
        (2**70, str(2**70)),
        (1.5, "1.5D"),
        (1e300, "1e+300D"),
        (float("nan"), "double('nan')"),
        (float("-inf"), "double('-inf')"),
        (Decimal("1E+2"), "100BD"),
        (Decimal("-0.10"), "-0.10BD"),
        (date(2024, 1, 5), "DATE '2024-01-05'"),
        (datetime(2024, 1, 5, 6, 7, 8, 9), "TIMESTAMP '2024-01-05 06:07:08.000009'"),
        (
            datetime(2024, 1, 5, 6, tzinfo=timezone(timedelta(hours=2))),
            "TIMESTAMP '2024-01-05 06:00:00+02:00'",
        ),
        (b"\x00\xff", "X'00ff'"),
    ],
)
def test_literals(value, literal):
    assert with_parameters("?", [value]) == literal


def test_a_value_without_a_literal_is_refused():
    with pytest.raises(SqlError, match=r"parameter xs has a value of the type list.*array\(:a, :b\)"):
        with_parameters("select :xs", {"xs": [1]})
