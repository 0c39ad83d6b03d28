"""The stored form of a view, which views of earlier versions share."""

from __future__ import annotations

import json

import pytest

from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.schema.types.types import ArrayType, DataField, parse_type

FIELDS = (DataField(0, "n", parse_type("INT NOT NULL"), "numbers"), DataField(1, "ü", ArrayType(parse_type("STRING"))))


@pytest.mark.parametrize(
    "view",
    [
        View("SELECT 1", "d"),
        View("SELECT 1 AS n, array('x') AS `ü`", "d", FIELDS, "why", {"k": "v"}),
        View("SELECT 1 AS a, array('x') AS b", "d", FIELDS, query_columns=("a", "b")),
        View("SELECT 1", "d", mode="EVOLUTION"),
    ],
    ids=["query", "columns", "renamed", "evolving"],
)
def test_a_stored_view_is_read(view):
    assert View.from_json(view.to_json()) == view


def test_missing_parts_are_not_stored():
    assert json.loads(View("SELECT 1", "d").to_json()) == {
        "version": 1, "sql": "SELECT 1", "database": "d", "columns": [], "options": {},
    }  # fmt: skip


def test_a_view_of_an_earlier_version_has_no_names_of_its_query():
    view = View.from_json(b'{"version": 1, "sql": "SELECT 1", "database": "d", "columns": []}')
    assert view == View("SELECT 1", "d")
    assert (view.query_columns, view.options, view.comment) == ((), {}, None)


@pytest.mark.parametrize(
    "text", [b"[]", b"{", b'{"sql": "SELECT 1"}', b'{"sql": "x", "database": "d", "columns": [1]}']
)
def test_text_that_is_no_view_is_refused(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        View.from_json(text)
