"""Columns and fields inside of them are added, dropped, renamed, moved and retyped by id, or refused with a reason."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import ColumnNotFound, OptionError, SchemaError, UserError
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
    SetColumnComment,
    SetNullability,
)
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type

INT, BIGINT, STRING = parse_type("INT"), parse_type("BIGINT"), parse_type("STRING")
PAIR = RowType((DataField(0, "x", INT), DataField(0, "y", STRING)))
COLUMNS = [("id", INT, None), ("dt", STRING, None), ("v", INT, None), ("s", PAIR, None),
           ("l", ArrayType(PAIR), None), ("m", MapType(PAIR, ArrayType(PAIR)), None)]  # fmt: skip
BASE = create_schema(COLUMNS, ["id", "dt"], ["dt"])


def changed(*changes, schema=BASE):
    return apply_changes(schema, changes, 0)


def names(data_type):
    return [one.name for one in data_type.fields]


def test_columns_are_put_where_they_should_be():
    after = changed(AddColumn("a", INT, first=True), AddColumn("b", INT, after="A"), AddColumn("c", INT))
    assert after.field_names == ("a", "b", *BASE.field_names, "c")
    moved = changed(MoveColumn("V", first=True), MoveColumn("id", after="m"), MoveColumn("dt", after="s"))
    assert moved.field_names == ("v", "s", "dt", "l", "m", "id")
    assert {one.name: one.id for one in moved.fields} == {one.name: one.id for one in BASE.fields}


def test_dropped_and_added_again_is_another_column():
    after = changed(DropColumn("v"), AddColumn("v", INT))
    assert after.field("v").id == BASE.highest_field_id + 1 == after.highest_field_id
    again = changed(DropColumn("v"), schema=after)
    assert again.highest_field_id == after.highest_field_id
    assert changed(AddColumn("v", INT), schema=again).field("v").id == after.highest_field_id + 1


def test_fields_inside_of_columns():
    after = changed(
        AddColumn(("s", "z"), INT, after="x"),
        AddColumn(("l", "element", "z"), INT, first=True),
        RenameColumn("m.value.element.Y", "why"),
        DropColumn(("s", "Y")),
        MoveColumn("l.element.y", first=True),
        RetypeColumn(("l", "element", "x"), BIGINT),
    )
    assert names(after.field("s").type) == ["x", "z"]
    assert names(after.field("l").type.element) == ["y", "z", "x"]
    assert after.field("l").type.element.fields[2].type == BIGINT
    assert names(after.field("m").type.value.element) == ["x", "why"]
    before = {one.name: one.id for one in BASE.field("l").type.element.fields}
    assert {one.name: one.id for one in after.field("l").type.element.fields if one.name != "z"} == before


def test_elements_keys_and_values_have_types_of_their_own():
    schema = create_schema([("k", INT, None), ("l", ArrayType(INT), None), ("m", MapType(STRING, INT), None)])
    after = changed(RetypeColumn("l.element", BIGINT), RetypeColumn("m.value", BIGINT), schema=schema)
    assert (after.field("l").type, after.field("m").type.value) == (ArrayType(BIGINT), BIGINT)
    with pytest.raises(SchemaError, match="key of a map"):
        changed(RetypeColumn("m.key", parse_type("BYTES")), schema=schema)
    with pytest.raises(ColumnNotFound, match="is no field"):
        changed(DropColumn("l.element"), schema=schema)


def test_a_whole_struct_may_get_another_type_and_keeps_the_ids_of_its_fields():
    wanted = RowType((DataField(-1, "Y", STRING), DataField(-1, "n", INT), DataField(-1, "x", BIGINT)))
    after = changed(RetypeColumn("s", wanted)).field("s").type
    before = {one.name: one.id for one in BASE.field("s").type.fields}
    assert [(one.name, one.id) for one in after.fields] == [
        ("y", before["y"]), ("n", BASE.highest_field_id + 1), ("x", before["x"])]  # fmt: skip
    with pytest.raises(SchemaError, match="NOT NULL"):
        changed(RetypeColumn("s", RowType((DataField(-1, "new", INT.as_nullable(False)),))))


def test_whether_a_column_may_be_null():
    strict = create_schema([("id", INT, None), ("v", INT.as_nullable(False), None)], ["id"])
    after = changed(SetNullability("v", nullable=True), schema=strict)
    assert after.field("v").type.nullable
    assert not changed(RetypeColumn("v", BIGINT), schema=strict).field("v").type.nullable, "a type keeps it"
    assert not changed(SetNullability("l.element.x", nullable=False)).field("l").type.element.fields[0].type.nullable
    with pytest.raises(SchemaError, match="never null"):
        changed(SetNullability("id", nullable=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (DropColumn("id"), "part of the primary key"),
        (RenameColumn("ID", "key"), "part of the primary key"),
        (RetypeColumn("id", BIGINT), "part of the primary key"),
        (AddColumn("id", INT), "column 'id' already"),
        (AddColumn("_KEY_id", INT), "reserved"),
        (AddColumn("n", INT.as_nullable(False)), "NOT NULL"),
        (AddColumn(("s", "n"), INT.as_nullable(False)), "NOT NULL"),
        (AddColumn(("s", "X"), INT), "'x' in 's' already"),
        (AddColumn(("v", "n"), INT), "no fields of its own"),
        (AddColumn(("l", "n"), INT), "no fields of its own"),
        (AddColumn("n", INT, after="nope"), "cannot come after it"),
        (RenameColumn("v", "S"), "column 's' already"),
        (RenameColumn("v", "_VALUE_KIND"), "reserved"),
        (RenameColumn("s.x", "Y"), "'y' in 's' already"),
        (RenameColumn("v", " "), "needs a name"),
        (MoveColumn("v", after="V"), "after itself"),
        (DropColumn("m.key.x"), "key of a map"),
        (RetypeColumn("v", parse_type("DATE")), "no cast leads there"),
        (RetypeColumn("v", parse_type("TIMESTAMP(9)")), "microseconds"),
    ],
    ids=str,
)
def test_refused(change, message):
    with pytest.raises(UserError, match=message):
        changed(change)


def test_partition_columns_stay():
    schema = create_schema([("dt", STRING, None), ("v", INT, None)], (), ["dt"])
    for change in (DropColumn("dt"), RenameColumn("dt", "day"), RetypeColumn("dt", parse_type("VARCHAR(9)"))):
        with pytest.raises(SchemaError, match="is a partition column"):
            changed(change, schema=schema)
    with pytest.raises(SchemaError, match="besides the partition columns"):
        changed(DropColumn("v"), schema=schema)
    assert changed(MoveColumn("dt", after="v"), SetColumnComment("dt", "day"), schema=schema).field_names == ("v", "dt")


def test_the_last_one_stays():
    schema = create_schema([("a", INT, None), ("s", RowType((DataField(0, "x", INT),)), None)])
    with pytest.raises(SchemaError, match="last one of the struct 's'"):
        changed(DropColumn("s.x"), schema=schema)
    with pytest.raises(SchemaError, match="last one of the table"):
        changed(DropColumn("a"), DropColumn("s"), schema=schema)


@pytest.mark.parametrize("change", [DropColumn("nope"), RenameColumn("s.nope", "n"), MoveColumn("nope", first=True),
                                    RetypeColumn("v.x", INT), AddColumn(("nope", "n"), INT)], ids=str)  # fmt: skip
def test_unknown_columns(change):
    with pytest.raises(ColumnNotFound, match="does not exist"):
        changed(change)


def test_if_exists():
    after = changed(DropColumn("nope", if_exists=True), AddColumn("v", STRING, if_not_exists=True))
    assert after.fields == BASE.fields


def test_earlier_types_count_too():
    first = create_schema([("a", INT, None), ("b", INT, None)])
    second = changed(RetypeColumn("a", BIGINT), RenameColumn("a", "c"), schema=first)
    wider = apply_changes(second, [RetypeColumn("c", parse_type("DECIMAL(20, 0)"))], 0, earlier=[first])
    assert wider.field("c").id == first.field("a").id
    narrow = create_schema([("a", parse_type("BYTES"), None), ("b", INT, None)])
    with pytest.raises(UserError):
        apply_changes(second, [RetypeColumn("c", parse_type("DECIMAL(20, 0)"))], 0, earlier=[narrow])
    assert apply_changes(
        second, [RetypeColumn("c", parse_type("DECIMAL(20, 0)"))], 0, earlier=[narrow], has_data=False
    ), "no file holds the earlier type"


def test_columns_that_order_or_are_calculated_keep_how_they_compare():
    schema = create_schema([("id", INT, None), ("ts", INT, None)], ["id"], options={"sequence.field": "ts"})
    assert changed(RetypeColumn("ts", BIGINT), schema=schema).field("ts").type == BIGINT
    options = {"schema.evolution.cast": "explicit-error"}
    for one in (
        create_schema([("id", INT, None), ("ts", INT, None)], ["id"], options={"sequence.field": "ts", **options}),
        create_schema([("id", INT, None), ("ts", INT, None)], ["id"],
                      options={"merge-engine": "aggregation", "fields.ts.aggregate-function": "max", **options}),
    ):  # fmt: skip
        with pytest.raises(SchemaError, match="has another order"):
            changed(RetypeColumn("ts", STRING), schema=one)
    bucketed = create_schema([("a", INT, None), ("b", INT, None)], options={"bucket": "2", "bucket-key": "a"})
    with pytest.raises(SchemaError, match="chooses the bucket"):
        changed(RetypeColumn("a", BIGINT), schema=bucketed)


def test_a_new_type_must_suit_the_function_of_the_column():
    schema = create_schema(
        [("id", INT, None), ("v", parse_type("BOOLEAN"), None)], ["id"],
        options={"merge-engine": "aggregation", "fields.v.aggregate-function": "bool_or",
                 "schema.evolution.cast": "explicit-error"},
    )  # fmt: skip
    with pytest.raises(OptionError, match="bool_or"):
        changed(RetypeColumn("v", STRING), schema=schema)
