"""Which views can be a part of a query's text, and what that text is."""

from __future__ import annotations

import pytest

from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.schema.types.types import DataField, parse_type
from tablestore_engine.sql.rows.view_rows import text_of_view, with_views


def view(names, query_columns):
    columns = tuple(DataField(i, name, parse_type("INT")) for i, name in enumerate(names))
    return View("unused", "db", columns, None, {}, tuple(query_columns))


def test_columns_are_chosen_by_the_names_that_they_had():
    assert text_of_view(view(["a", "b c"], ["x", "count(1)"]), "SELECT * FROM `db.t#1`") == (
        "SELECT `x` AS `a`, `count(1)` AS `b c` FROM (\nSELECT * FROM `db.t#1`\n)"
    )


@pytest.mark.parametrize(
    ("names", "query_columns", "sql"),
    [
        (["a", "b"], ["x", "X"], "SELECT 1"),
        (["a"], [], "SELECT 1"),
        (["a"], ["x", "y"], "SELECT 1"),
        (["a"], ["x"], "SELECT rand() AS x"),
        (["a"], ["x"], "SELECT x FROM t TABLESAMPLE (10 ROWS)"),
    ],
    ids=["two of one name", "unknown", "more", "random", "sample"],
)
def test_views_that_are_read_apart(names, query_columns, sql):
    assert text_of_view(view(names, query_columns), sql) is None


def test_a_view_stands_behind_those_that_it_needs():
    text = with_views({"db.v#1": "SELECT 1", "db.w#2": "SELECT * FROM `db.v#1` -- all"}, "SELECT * FROM `db.w#2`")
    assert text == (
        "WITH `db.v#1` AS (\nSELECT 1\n),\n`db.w#2` AS (\nSELECT * FROM `db.v#1` -- all\n)\n"
        "(\nSELECT * FROM `db.w#2`\n)"
    )
