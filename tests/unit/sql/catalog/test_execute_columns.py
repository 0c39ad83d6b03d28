"""ALTER TABLE of columns whose names differ in case only."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.execute_door import Door, door  # noqa: F401

from tablestore_engine.errors import ColumnNotFound, SchemaError, SqlError
from tablestore_engine.schema.types.names import Resolver


@pytest.fixture
def sensitive(door):
    """A door to a session that distinguishes names by their case, and to a table with `id` and `Id`."""
    sensitive = Door(replace(door.context, resolver=Resolver(lambda: True)))
    sensitive.run("create table t (id int, Id string, v int, s struct<x: int, X: int, y: int>)")
    return sensitive


def fields(door):
    return door.schema("t").field_names


@pytest.mark.parametrize("kind", ["sensitive", "door"])
def test_a_name_that_is_dropped_twice_drops_one_column(sensitive, door, kind):
    session = {"sensitive": sensitive, "door": door}[kind]
    for repeated in ("(id, id)", "(s.x, s.x)"):
        with pytest.raises(ColumnNotFound, match="does not exist"):
            session.run(f"alter table t drop columns {repeated}")
    session.run("alter table t drop columns if exists (Id, Id)")
    assert fields(session) == ("id", "v", "s")


def test_another_spelling_is_not_dropped_if_case_counts(sensitive, door):
    for name in ("Id", "Id", "V", "S", "S.y", "s.Y"):
        sensitive.run(f"alter table t drop column if exists {name}")
    assert fields(sensitive) == ("id", "v", "s")
    with pytest.raises(ColumnNotFound, match=r"Column 'ID' does not exist. Did you mean 'id'"):
        sensitive.run("alter table t drop column ID")
    with pytest.raises(ColumnNotFound, match=r"Column 'S.y' does not exist. Did you mean 's.y'"):
        sensitive.run("alter table t drop column S.y")
    door.run("alter table t drop columns (ID, S.Y)")
    assert str(door.schema("t").field("s").type) == "ROW<`x` INT, `X` INT>"
    assert fields(door) == ("v", "s")


SPELLED = {
    "rename column V to w": "V",
    "rename column s.Y to z": "s.Y",
    "change column V w int": "V",
    "alter column V comment 'x'": "V",
    "alter column V first": "V",
    "alter column v after S": "S",
    "alter column S.y type bigint": "S.y",
    "alter column V set default 1": "V",
    "alter column V drop default": "V",
    "add column w int after V": "V",
    "add column S.w int": "S.w",
    "add column s.w int after Y": "s.Y",
    "drop partition (P = 'a')": "P",
    "add partition field V": "V",
    "drop partition field V": "V",
}
"""Changes of columns, and the name in each that the table spells in lower case."""


@pytest.mark.parametrize("change", SPELLED)
def test_changed_columns_are_named_as_they_are_spelled_if_case_counts(door, change):
    """In other sessions the same texts find them."""
    door.run("create table k (id int, v int, s struct<x: int, y: int>, p string) partitioned by (p)")
    before, given = door.schema("k"), SPELLED[change].removesuffix(".w")
    sensitive = Door(replace(door.context, resolver=Resolver(lambda: True)))
    with pytest.raises(ColumnNotFound, match=rf"Column '{given}' does not exist.*Did you mean '{given.lower()}'"):
        sensitive.run(f"alter table k {change}")
    assert door.schema("k") == before
    if "partition" not in change:
        door.run(f"alter table k {change}")


@pytest.mark.parametrize(
    ("statement", "field"),
    [
        ("create table u (a struct<x: int, X: int>)", "a.X"),
        ("create table u (a array<struct<b: map<int, struct<x: int, y: int, X: int>>>>)", "a.element.b.value.X"),
        ("alter table k add column b struct<x: int, X: int>", "b.X"),
        ("alter table k add column s.b struct<x: int, X: int>", "s.b.X"),
        ("alter table k replace columns (id int, b struct<x: int, X: int>)", "b.X"),
    ],
)
def test_fields_that_spark_could_not_distinguish_are_refused(door, statement, field):
    door.run("create table k (id int, s struct<x: int>)")
    with pytest.raises(
        SchemaError, match=rf"Two fields are named '{field}' .the other one '.*x'.*caseSensitive = true"
    ):
        door.run(statement)
    Door(replace(door.context, resolver=Resolver(lambda: True))).run(statement)


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ("id int, v int", {"id": 0, "v": 2}),
        ("v int, Id string", {"v": 2, "Id": 1}),
        ("Id string, id int", {"Id": 1, "id": 0}),
        ("ID int, V int", {"ID": 7, "V": 8}),
    ],
)
def test_replaced_columns_are_those_that_are_listed(sensitive, wanted, ids):
    sensitive.run("alter table t drop column s")
    sensitive.run(f"alter table t replace columns ({wanted})")
    found = {one.name: one.id for one in sensitive.schema("t").fields}
    assert found == ids


def test_replaced_and_changed_columns_are_spelled_anew(door):
    door.run("create table t (id int, v string, w int, s struct<x: int>) partitioned by (id)")
    ids = {one.name: one.id for one in door.schema("t").fields}
    door.run("alter table t replace columns (S struct<x: int, y: int>, id int, V string comment 'c')")
    assert fields(door) == ("S", "id", "V")
    assert [one.id for one in door.schema("t").fields] == [ids["s"], ids["id"], ids["v"]], "with their rows"
    door.run("alter table t change column v vV string")
    door.run("alter table t change column VV vV string")
    assert fields(door) == ("S", "id", "vV")
    with pytest.raises(SchemaError, match=r"'id' is a partition column .* cannot be renamed"):
        door.run("alter table t replace columns (ID int, v string)")
    assert fields(door) == ("S", "id", "vV")


def test_all_columns_are_replaced(sensitive, door):
    door.run("alter table t replace columns (a int, b string)")
    assert fields(door) == ("a", "b")
    before = door.schema("t").highest_field_id
    sensitive.run("alter table t replace columns (A int)")
    assert fields(door) == ("A",)
    assert door.schema("t").fields[0].id > before, "another column, to a session that distinguishes them"


def test_a_column_is_changed_once_in_a_statement(sensitive, door):
    before = door.schema("t")
    for changes in (
        "alter column v comment 'a', v comment 'b'",
        "alter column v type bigint, alter column V set default 3",
        "alter column s.y comment 'a', s.y first",
        "modify v bigint, v string",
    ):
        with pytest.raises(SqlError, match=r"ALTER TABLE default.t failed: Column '(v|s.y)' is changed twice"):
            door.run(f"alter table t {changes}")
    assert door.schema("t") == before
    sensitive.run("alter table t alter column id comment 'a', Id comment 'b', s.x comment 'c', s.X comment 'd'")
    assert [one.description for one in door.schema("t").fields] == ["a", "b", None, None]


@pytest.mark.parametrize(
    "changes",
    [
        "alter column s type struct<x: bigint>, s.x type bigint",
        "alter column S.Y comment 'a', s comment 'b'",
        "alter column l.element type struct<x: bigint>, id comment 'c', l.element.x drop not null",
    ],
)
def test_a_column_and_a_part_of_it_are_not_changed_in_one_statement(door, changes):
    door.run("create table t (id int, s struct<x: int, y: int>, l array<struct<x: int>>)")
    before = door.schema("t")
    with pytest.raises(SqlError, match=r"Column '(\S+)' and '\1\.\w+' inside of it are changed in one statement"):
        door.run(f"alter table t {changes}")
    assert door.schema("t") == before
    door.run("alter table t alter column s.x type bigint, s.y comment 'a', l.element.x type bigint")
    assert str(door.schema("t").field("s").type) == "ROW<`x` BIGINT, `y` INT>"
