"""Calls of functions in a text."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query.function_calls import calls_of_current_names, function_calls

NAMED = " AS `current_schema()`"
CATALOG = " AS `current_catalog()`"


@pytest.mark.parametrize(
    ("text", "aliases"),
    [
        ("SELECT current_database()", [NAMED]),
        ("SELECT current_database(), 1 FROM t", [NAMED]),
        ("SELECT current_database() AS d", [""]),
        ("SELECT current_database() d", [""]),
        ("SELECT concat('a', current_database())", [""]),
        ("SELECT 1 WHERE current_schema() = 'x' AND CURRENT_DATABASE ( ) <> 'y'", ["", ""]),
        ("SELECT (SELECT Current_Database())", [NAMED]),
        ("SELECT current_catalog(), current_catalog() AS c", [CATALOG, ""]),
        ("SELECT db.current_database(), current_database(1), `current_database`, 'current_database()'", []),
    ],
)
def test_calls_of_the_current_database(text, aliases):
    found = calls_of_current_names(text)
    assert [alias for _, _, alias, _ in found] == aliases
    assert all(text[start:end].lower().replace(" ", "") in _CALLS for start, end, _, _ in found)
    assert all(of_catalog == ("catalog" in text[start:end].lower()) for start, end, _, of_catalog in found)


_CALLS = ("current_database()", "current_schema()", "current_catalog()")


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("SELECT identifier('f')(1), g(2)", [("identifier('f')", ("f",)), ("g", ("g",))]),
        ("SELECT IDENTIFIER('s' || '.f') (a)", [("IDENTIFIER('s' || '.f')", ("s", "f"))]),
        ("SELECT identifier('tablestore.s.`a b`')()", [("identifier('tablestore.s.`a b`')", ("s", "a b"))]),
        ("SELECT identifier(x)(1), identifier('a b')(1), identifier('lake.s.f')(1), (x)(1)", []),
    ],
)
def test_functions_are_called_by_a_text(text, calls):
    found = [(text[one.start : one.end], one.parts) for one in function_calls(text) if one.parts != ("identifier",)]
    assert [one for one in found if one[1] != ("IDENTIFIER",)] == calls
