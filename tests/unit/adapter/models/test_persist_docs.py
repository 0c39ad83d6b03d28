"""Descriptions of a model become comments in the same change of the schema as its columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.tablestore.models.persist_docs import column_comments, with_docs
from dbt.adapters.tablestore.relation.column_paths import column_paths
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import AddColumn, DropColumn, SetColumnComment, SetComment
from tablestore_engine.schema.types.types import ArrayType, DataField, RowType, parse_type

INT = parse_type("INT")
STRUCT = RowType((DataField(0, "x", INT, "the x"),))
SCHEMA = create_schema([("id", INT, "the id"), ("Name", INT, None), ("s", STRUCT, None)], ["id"])
CHANGES = [AddColumn("new", INT), DropColumn("Name")]


def model(persisted, description="", /, quote=False, **columns):
    named = {k: {"name": k.replace("__", "."), "description": v, "quote": quote} for k, v in columns.items()}
    return {"description": description, "columns": named, "config": {"persist_docs": persisted}}


@pytest.mark.parametrize(
    ("given", "before", "after"),
    [
        (model({}, "all", id="x"), [], []),
        (model({"relation": True}, "all", id="x"), [SetComment("all")], []),
        (model({"relation": True}), [], []),
        (
            model({"columns": True}, "all", ID="other", name="n", s__x="the x", new="N", nope="?"),
            [SetColumnComment(("id",), "other"), SetColumnComment(("Name",), "n")],
            [SetColumnComment(("new",), "N")],
        ),
        (model({"columns": True}, id="the id", s=""), [], []),
        (
            model({"columns": True}, id="", s__x=""),
            [SetColumnComment(("id",), None), SetColumnComment(("s", "x"), None)],
            [],
        ),
        (model({"columns": True}, quote=True, name="n", new="N"), [], [SetColumnComment(("new",), "N")]),
    ],
)
def test_comments_come_with_the_columns(given, before, after):
    found = with_docs(SCHEMA, given, CHANGES)
    assert found == [*before, *CHANGES, *after]
    assert apply_changes(SCHEMA, found, 0).id == SCHEMA.id + 1


def test_a_comment_goes_with_the_description():
    assert with_docs(replace(SCHEMA, comment="all"), model({"relation": True}), ()) == [SetComment(None)]


def test_of_two_names_of_a_field_the_described_one_counts():
    paths = column_paths([DataField(0, "l", ArrayType(STRUCT))])
    assert column_comments(paths, {"l.element.x": "", "l.x": "y"}) == [SetColumnComment(("l", "element", "x"), "y")]
    assert column_comments(paths, {"l.element.x": "the x", "l.x": ""}) == []
