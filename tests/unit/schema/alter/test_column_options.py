"""Options that name a column follow its new name, leave with it, or keep it."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import OptionError, SchemaError
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.alter.column_options import renamed_in_options, with_names, without_columns
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import AddColumn, DropColumn, RenameColumn, SetOption
from tablestore_engine.schema.types.types import ArrayType, DataField, RowType, parse_type

INT = parse_type("INT")

OPTIONS = {
    "bucket-key": "a,b",
    "sequence.field": "a",
    "rowkind.field": "a",
    "fields.a.aggregate-function": "sum",
    "fields.a.function": "sum",
    "fields.a.stats-mode": "none",
    "fields.a.map.storage-layout": "x",
    "fields.a,b.sequence-group": "c,d",
    "fields.c.sequence-group": "a",
    "file-index.bloom-filter.columns": "a,a[k],b",
    "file-index.bloom-filter.a.fpp": "0.1",
    "file-index.bloom-filter.a[k].items": "5",
    "clustering.columns": "b,a",
    "fields.default-aggregate-function": "sum",
    "write-only": "a",
    "my.own": "a",
}


def test_a_new_name():
    assert renamed_in_options(OPTIONS, "a", "n.m") == {
        "bucket-key": "n.m,b",
        "sequence.field": "n.m",
        "rowkind.field": "n.m",
        "fields.n.m.aggregate-function": "sum",
        "fields.n.m.function": "sum",
        "fields.n.m.stats-mode": "none",
        "fields.n.m.map.storage-layout": "x",
        "fields.n.m,b.sequence-group": "c,d",
        "fields.c.sequence-group": "n.m",
        "file-index.bloom-filter.columns": "n.m,n.m[k],b",
        "file-index.bloom-filter.n.m.fpp": "0.1",
        "file-index.bloom-filter.n.m[k].items": "5",
        "clustering.columns": "b,n.m",
        "fields.default-aggregate-function": "sum",
        "write-only": "a",
        "my.own": "a",
    }
    assert renamed_in_options(OPTIONS, "fields", "x") == OPTIONS


def test_options_of_a_column_are_dropped_with_it():
    own = {key: value for key, value in OPTIONS.items()
           if key.startswith(("fields.a.", "file-index", "clustering", "my.", "write-", "fields.default"))}  # fmt: skip
    assert without_columns(own, ["a"]) == {
        "file-index.bloom-filter.columns": "b",
        "clustering.columns": "b",
        "fields.default-aggregate-function": "sum",
        "write-only": "a",
        "my.own": "a",
    }
    assert "file-index.bloom-filter.columns" not in without_columns(own, ["a", "b"])


@pytest.mark.parametrize("key", ["bucket-key", "sequence.field", "rowkind.field"])
def test_options_that_need_a_column_keep_it(key):
    with pytest.raises(SchemaError, match=f"option '{key}' names it"):
        without_columns({key: OPTIONS[key]}, ["a"])


def test_sequence_groups():
    group = {"fields.g,h.sequence-group": "a, b"}
    assert without_columns(group, ["a"]) == {"fields.g,h.sequence-group": "b"}
    assert without_columns(group, ["a", "b", "g", "h"]) == {}
    for dropped in (["g"], ["a", "b"], ["g", "h"], ["g", "a", "b"]):
        with pytest.raises(SchemaError, match="Drop the columns of the sequence group in one statement"):
            assert without_columns(group, dropped) is None
    schema = create_schema(
        [("id", INT, None), *((one, INT, None) for one in "ghabc")], ["id"],
        options={"merge-engine": "partial-update", **group},
    )  # fmt: skip
    with pytest.raises(OptionError, match="may hold retractions"):
        apply_changes(schema, [DropColumn(one) for one in "gahb"], 0)
    after = apply_changes(schema, [DropColumn(one) for one in "gahb"], 0, has_data=False)
    assert (after.field_names, dict(after.options)) == (
        ("id", "c"), {"merge-engine": "partial-update", "bucket": "1"})  # fmt: skip
    late = apply_changes(schema, [DropColumn("c"), AddColumn("c", INT), SetOption("fields.c.stats-mode", "none")], 0)
    assert late.options["fields.c.stats-mode"] == "none"


def test_names_of_nested_keys():
    rows = ArrayType(RowType((DataField(0, "k", INT), DataField(0, "v", INT))))
    schema = create_schema(
        [("id", INT, None), ("l", rows, None)], ["id"],
        options={"merge-engine": "aggregation", "fields.l.aggregate-function": "nested_update",
                 "fields.l.nested-key": "k"},
    )  # fmt: skip
    after = apply_changes(schema, [RenameColumn("l.element.k", "key"), RenameColumn("l", "list")], 0)
    assert after.options["fields.list.nested-key"] == "key"
    assert after.merge_engine.folds[0].column == "list"
    with pytest.raises(SchemaError, match=r"l\.nested-key' names it"):
        apply_changes(schema, [DropColumn("l.element.k")], 0)


def test_a_schema_with_the_names_of_a_view():
    schema = create_schema([(one, INT, None) for one in "abc"], ["a", "c"], ["a"], {"sequence.field": "b"})
    shown = with_names(schema, ["b", "a", "x"])
    assert [(one.id, one.name) for one in shown.fields] == [(0, "b"), (1, "a"), (2, "x")]
    assert (shown.primary_keys, shown.partition_keys, shown.options["sequence.field"]) == (("b", "x"), ("b",), "a")
    assert shown.id != schema.id
