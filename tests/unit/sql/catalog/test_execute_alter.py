"""ALTER TABLE and COMMENT ON in a warehouse on disk."""

from __future__ import annotations

import pytest
from support.execute_door import NOW, door  # noqa: F401

from tablestore_engine.errors import (
    ColumnNotFound,
    OptionError,
    SchemaError,
    SqlError,
    TableNotFound,
    UserError,
)


def test_add_columns(door):
    door.run("create table t (a int)")
    door.run("alter table t add columns (b string comment 'new', c struct<x: int>)")
    door.run("alter table t add column if not exists B int")
    schema = door.schema("t")
    assert schema.field_names == ("a", "b", "c")
    assert schema.field("b").description == "new"
    assert schema.id == 1
    for text, error in (
        ("add column a int", SchemaError),
        ("add column d int not null", SchemaError),
        ("add column d int default 'x'", SchemaError),
        ("alter column nope set default 1", ColumnNotFound),
    ):
        with pytest.raises(error):
            door.run(f"alter table t {text}")
    door.view("v", a="int")
    with pytest.raises(SqlError, match="view"):
        door.run("alter table v add column d int")


def test_default_values_of_columns(door):
    door.run("create table t (a int default 3 comment 'x', b string default 'it is', d date default date '2024-02-29')")
    door.run("alter table t add column e bigint default 7")
    door.run("alter table t alter column a drop default")
    door.run("alter table t alter column b set default 'new'")
    assert [one.default_value for one in door.schema("t").fields] == [None, "'new'", "'2024-02-29'", "7"]
    text = door.rows("show create table t")[0][0]
    for line in ("`b` STRING DEFAULT 'new'", "`d` DATE DEFAULT '2024-02-29'", "`e` BIGINT DEFAULT 7"):
        assert line in text
    assert ("e", "bigint", "7") in door.rows("describe t")
    door.run("create table u like t")
    assert door.schema("u").field("d").default_value == "'2024-02-29'"
    door.run("drop table u")
    door.run(text.replace("`t`", "`u`"))
    assert [one.default_value for one in door.schema("u").fields] == [None, "'new'", "'2024-02-29'", "7"]


def test_properties_of_a_table(door):
    door.run("create table t (a int)")
    door.run("alter table t set tblproperties ('write-only' = true, 'comment' = 'hi')")
    assert door.schema("t").options["write-only"] == "true"
    assert door.schema("t").comment == "hi"
    door.run("alter table t unset tblproperties ('write-only', 'comment')")
    assert dict(door.schema("t").options) == {}
    assert door.schema("t").comment is None
    door.run("alter table t unset tblproperties if exists ('write-only')")
    with pytest.raises(SqlError, match="write-only"):
        door.run("alter table t unset tblproperties ('write-only')")
    with pytest.raises(OptionError, match="write-only"):
        door.run("alter table t set tblproperties ('write-onyl' = 'true')")


@pytest.mark.parametrize(
    "change",
    ["set tblproperties ('bucket-key' = 'nope', 'bucket' = '2')", "set tblproperties ('sequence.field' = 'nope')",
     "set tblproperties ('bucket' = '-2')", "unset tblproperties ('bucket')"],
)  # fmt: skip
def test_options_that_do_not_fit_an_empty_table(door, change):
    door.run("create table t (a int, b int, primary key (a))")
    before = door.schema("t")
    with pytest.raises(UserError):
        door.run(f"alter table t {change}")
    assert door.schema("t") == before
    door.run("alter table t set tblproperties ('bucket' = '2')")
    assert door.schema("t").core_options.bucket == 2


def test_columns_properties_and_the_comment_change_in_one_schema_or_not_at_all(door):
    door.run("create table t (a int, b int, primary key (a)) tblproperties ('write-only' = 'true')")
    change = "add column v bigint, set tblproperties ('sequence.field' = 'v'), unset tblproperties ('write-only')"
    door.run(f"alter table t {change}, set comment 'with versions', drop column b")
    schema = door.schema("t")
    assert (schema.id, schema.field_names, schema.comment) == (1, ("a", "v"), "with versions")
    assert (schema.options["sequence.field"], "write-only" in schema.options) == ("v", False)
    for refused in ("set tblproperties ('bukcet' = '1')", "unset tblproperties ('no')", "rename to u", "compact"):
        with pytest.raises(UserError):
            door.run(f"alter table t add column c int, {refused}")
        assert door.schema("t") == schema


def test_constraints(door):
    door.run("create table t (a int, `b c` int, constraint positive check (a > `b c`))")
    for change, error in (
        ("add constraint c unique (a)", r"CONSTRAINT: PRIMARY KEY, NOT NULL and CHECK are kept.*ADD CONSTRAINT"),
        ("drop constraint positiv", "no CHECK constraint 'positiv'. Did you mean 'positive'"),
        ("rename column a to b", r"read by the CHECK constraint positive \(a > `b c`\)"),
        ("drop column `b c`", "read by the CHECK constraint positive"),
        ("set tblproperties ('constraint.check.c' = 'true')", "not set as an option.*ADD CONSTRAINT"),
    ):
        with pytest.raises(UserError, match=error):
            door.run(f"alter table t {change}")
    assert "CONSTRAINT `positive` CHECK (a > `b c`)" in door.rows("show create table t")[0][0]
    assert ("positive", "CHECK (a > `b c`)", "") in door.rows("describe extended t")
    for text in ("drop constraint POSITIVE", "drop constraint if exists positive", "rename column a to b"):
        door.run(f"alter table t {text}")
    assert not door.schema("t").options


def test_properties_of_a_view(door):
    door.view("v", a="int")
    door.run("alter view v set tblproperties ('any.thing' = '1', 'comment' = 'c')")
    view = door.catalog.load_view("default", "v")
    assert (dict(view.options), view.comment, view.sql) == ({"any.thing": "1"}, "c", "select 1 as a")
    door.run("alter view v unset tblproperties ('any.thing', 'comment')")
    view = door.catalog.load_view("default", "v")
    assert (dict(view.options), view.comment) == ({}, None)
    with pytest.raises(SqlError):
        door.run("alter view v unset tblproperties ('any.thing')")


def test_comments(door):
    door.run("create table t (a int, s struct<x: int, y: array<struct<z: int>>>)")
    door.view("v", a="int", s="struct<x: int>")
    door.run("comment on table t is 'it''s t'")
    assert door.schema("t").comment == "it's t"
    door.run("alter table t alter column a comment 'col'")
    door.run("comment on column t.a is 'column a'")
    door.run("alter table t alter column s.x comment 'x'")
    door.run("alter table t alter column s.y.element.z comment 'z'")
    schema = door.schema("t")
    assert schema.field("a").description == "column a"
    x, y = schema.field("s").type.fields
    assert (x.description, y.type.element.fields[0].description) == ("x", "z")
    door.run("comment on column t.s.x is 'nested'")
    door.run("comment on column tablestore.default.t.s.y.element.z is 'deep'")
    x, y = door.schema("t").field("s").type.fields
    assert (x.description, y.type.element.fields[0].description) == ("nested", "deep")
    door.run("comment on column default.t.a is 'of the schema'")
    assert door.schema("t").field("a").description == "of the schema"
    door.run("comment on column t.a is null")
    door.run("comment on table t is null")
    assert (door.schema("t").comment, door.schema("t").field("a").description) == (None, None)
    door.run("comment on view v is 'v'")
    door.run("comment on column v.A is 'va'")
    door.run("comment on column v.s.X is 'field'")
    view = door.catalog.load_view("default", "v")
    assert (view.comment, view.columns[0].description) == ("v", "va")
    assert view.columns[1].type.fields[0].description == "field"
    for text in (
        "comment on column t.nope is ''",
        "comment on column v.nope is ''",
        "comment on column v.s.nope is ''",
        "alter table t alter column s.q comment ''",
    ):
        with pytest.raises(ColumnNotFound):
            door.run(text)
    with pytest.raises(SqlError):
        door.run("comment on view t is ''")


def test_other_changes(door):
    door.run("create table t (a int)")
    with pytest.raises(SqlError, match="SET LOCATION"):
        door.run("alter table t set location 'x'")
    with pytest.raises(ColumnNotFound):
        door.run("alter table t drop column nope")
    before = door.schema("t")
    door.run("alter table t drop column if exists nope")
    assert door.schema("t").fields == before.fields


def test_refresh(door):
    door.run("create table t (a int, b int)")
    assert door.run("refresh table t").rows is None
    with pytest.raises(TableNotFound, match=r"default\.u"):
        door.run("refresh table u")
