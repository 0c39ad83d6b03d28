"""Changes give the next schema and leave the old one as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablestore_engine.errors import ColumnNotFound, OptionError, SchemaError, UnsupportedTypeError
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    RemoveOption,
    SetColumnComment,
    SetComment,
    SetOption,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type

INT = parse_type("INT")
BASE = create_schema([("id", INT, None), ("v", INT, None)], ["id"], options={"write-only": "true"})


def test_changes_fold():
    after = apply_changes(BASE, [AddColumn("n", INT, "new"), SetOption("write-only", "false"), SetComment("hello")], 77)
    assert after.id == 1
    assert after.field_names == ("id", "v", "n")
    assert (after.field("n").id, after.highest_field_id) == (2, 2)
    assert after.options["write-only"] == "false"
    assert (after.comment, after.time_millis) == ("hello", 77)
    assert BASE.field_names == ("id", "v")
    assert BASE.options["write-only"] == "true"


def test_ids_are_never_used_twice():
    removed = TableSchema(3, BASE.fields, 40, (), ("id",), BASE.options)
    nested = RowType((DataField(0, "a", INT), DataField(0, "b", INT)))
    after = apply_changes(removed, [AddColumn("r", nested), AddColumn("s", INT)], 0)
    assert after.field("r").id == 41
    assert [one.id for one in after.field("r").type.fields] == [42, 43]
    assert after.field("s").id == 44
    assert after.highest_field_id == 44


def test_comments_of_columns():
    after = apply_changes(BASE, [SetColumnComment("ID", "the key"), SetColumnComment("v", None)], 0)
    assert [one.description for one in after.fields] == ["the key", None]
    assert [(one.id, one.name, one.type) for one in after.fields] == [
        (one.id, one.name, one.type) for one in BASE.fields
    ]
    with pytest.raises(ColumnNotFound, match="id, v"):
        apply_changes(BASE, [SetColumnComment("nope", "")], 0)


def test_comments_inside_of_columns():
    inner = RowType((DataField(0, "x.y", INT), DataField(0, "z", INT)))
    columns = [
        ("a.b", inner, None),
        ("l", ArrayType(inner), None),
        ("m", MapType(inner, ArrayType(inner)), None),
    ]
    schema = create_schema(columns)
    comments = ["a.b", "l.element.z", "m.key.z", "m.value.element.Z"]
    after = apply_changes(schema, [SetColumnComment(name, name) for name in comments], 0)
    assert after.field("a.b").description == "a.b"
    assert after.field("l").type.element.fields[1].description == "l.element.z"
    assert after.field("m").type.key.fields[1].description == "m.key.z"
    assert after.field("m").type.value.element.fields[1].description == "m.value.element.Z"
    for name in ("l.z", "l.element", "l.element.q", "m.value.z", "l.element.z.z"):
        with pytest.raises(ColumnNotFound):
            apply_changes(schema, [SetColumnComment(name, "")], 0)


def test_a_removed_option_is_no_longer_set():
    assert "write-only" not in apply_changes(BASE, [RemoveOption("write-only")], 0).options
    assert apply_changes(BASE, [RemoveOption("target-file-size")], 0).options == BASE.options


@pytest.mark.parametrize(
    "change",
    [AddColumn("V", INT), AddColumn("_KEY_x", INT), AddColumn("n", INT.as_nullable(False))],
    ids=lambda one: one.name,
)
def test_bad_columns_are_refused(change):
    with pytest.raises(SchemaError):
        apply_changes(BASE, [change], 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [("bucket", "-1"), ("merge-engine", "aggregation"), ("sequence.field", "v"), ("bukcet", "1")],
)
def test_options_that_cannot_change_with_data(key, value):
    with pytest.raises(OptionError):
        apply_changes(BASE, [SetOption(key, value)], 0)


def test_fixed_options_may_change_before_there_is_data_or_to_the_same_value():
    assert apply_changes(BASE, [SetOption("bucket", "8")], 0, has_data=False).core_options.bucket == 8
    assert apply_changes(BASE, [SetOption("bucket", "1")], 0).core_options.bucket == 1
    with pytest.raises(OptionError, match="'primary-key' is set when a table is made"):
        apply_changes(BASE, [SetOption("primary-key", "v")], 0, has_data=False)


def test_changes_are_ignored_of_columns_only():
    key = "changelog-producer.row-deduplicate-ignore-fields"
    lookup = SetOption("changelog-producer", "lookup")
    assert apply_changes(BASE, [lookup, SetOption(key, "v")], 0).options[key] == "v"
    for value, words in (("zz", "names 'zz', which is not a column"), ("v,v", "names a column twice")):
        with pytest.raises(OptionError, match=words):
            apply_changes(BASE, [lookup, SetOption(key, value)], 0)


def test_an_error_names_the_option_of_the_column():
    with pytest.raises(OptionError, match=r"'fields\.v\.count-limit' cannot be 'few'"):
        apply_changes(BASE, [SetOption("fields.v.count-limit", "few")], 0)


def test_an_empty_table_gets_its_first_key_as_an_option():
    plain = replace(BASE, primary_keys=(), options={})
    changed = apply_changes(plain, [SetOption("primary-key", "ID"), SetOption("bucket", "3")], 0, has_data=False)
    assert (changed.primary_keys, changed.options) == (("id",), {"bucket": "3"})
    assert not changed.field("id").type.nullable
    assert (changed.id, changed.replaces) == (plain.id + 1, None)
    with pytest.raises(OptionError, match="ADD PRIMARY KEY"):
        apply_changes(plain, [SetOption("primary-key", "id")], 0)
    with pytest.raises(SchemaError, match="'nope', which is not a column"):
        apply_changes(plain, [SetOption("primary-key", "nope")], 0, has_data=False)


def test_a_number_of_buckets_may_become_another():
    assert apply_changes(BASE, [SetOption("bucket", "8")], 0).core_options.bucket == 8
    for text in ("0", "many"):
        with pytest.raises(OptionError):
            apply_changes(BASE, [SetOption("bucket", text)], 0)


def test_options_of_other_writers_do_not_block_a_change():
    foreign = TableSchema(0, BASE.fields, 1, (), ("id",), {"bucket": "2", "from.the.future": "x"})
    assert apply_changes(foreign, [SetComment("c")], 0).options["from.the.future"] == "x"


@pytest.mark.parametrize(
    ("name", "kind", "key", "value", "match"),
    [
        ("x", "VARIANT", "file.format", "orc", "variants"),
        ("x", "VARIANT", "file.format.per.level", "5:avro", "variants"),
        ("a b", "INT", "file.format", "avro", "called 'a b'"),
    ],
)
def test_a_column_that_files_of_a_format_cannot_hold(name, kind, key, value, match):
    columns, one = [("id", INT, None)], (name, parse_type(kind), None)
    with pytest.raises((SchemaError, UnsupportedTypeError), match=match):
        create_schema([*columns, one], ["id"], options={key: value})
    with pytest.raises((SchemaError, UnsupportedTypeError), match=match):
        apply_changes(create_schema(columns, ["id"], options={key: value}), [AddColumn(*one[:2])], 0)
    with pytest.raises((SchemaError, UnsupportedTypeError), match=match):
        apply_changes(create_schema([*columns, one], ["id"]), [SetOption(key, value)], 0)
