"""The stored form of a function, and what its language and its kind mean for calls."""

from __future__ import annotations

import json

import pytest

from tablestore_engine.metadata.warehouse.function import PYTHON, SQL, Function, Parameter


def function(**values):
    return Function(**{"database": "d", "name": "f", "parameters": (), "returns_sql": None, "language": SQL,
                       "body": "1", **values})  # fmt: skip


@pytest.mark.parametrize(
    ("language", "aggregate", "inlined", "kind"),
    [
        (SQL, False, False, "SCALAR"),
        (SQL, True, True, "AGGREGATE"),
        (PYTHON, False, False, "SCALAR"),
        (PYTHON, True, False, "AGGREGATE"),
    ],
)
def test_only_aggregates_of_sql_are_inlined(language, aggregate, inlined, kind):
    made = function(language=language, aggregate=aggregate)
    assert (made.is_inlined, made.kind, made.full_name) == (inlined, kind, "d.f")


@pytest.mark.parametrize(
    "made",
    [
        function(),
        function(parameters=(Parameter("a", "INT"), Parameter("b", "STRING", "'ü'", "second")), returns_sql="INT"),
        function(language=PYTHON, body="def g(x):\n    return x", handler="g", deterministic=False, comment="c",
                 options={"packages": "numpy"}),
    ],
    ids=["bare", "parameters", "python"],
)  # fmt: skip
def test_a_stored_function_is_read(made):
    assert Function.from_json(made.to_json()) == made
    assert json.loads(made.to_json())["version"] == 1


@pytest.mark.parametrize("text", ["{}", "{", "[]", '{"version": 1, "parameters": [], "colour": "red"}'])
def test_text_that_is_no_function_is_refused(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        Function.from_json(text.encode())
