"""CREATE, ALTER and DROP SCHEMA in a warehouse on disk."""

from __future__ import annotations

import os

import pytest
from support.execute_door import NOW, door  # noqa: F401

from tablestore_engine.errors import (
    DatabaseAlreadyExists,
    DatabaseNotFound,
    DependencyError,
    SqlError,
)


def test_schemas(door):
    assert (
        door.run("create schema sales comment 'what we sold' with dbproperties ('team' = 'x')").kind == "CREATE SCHEMA"
    )
    door.run("create schema if not exists Sales comment 'other'")
    assert door.rows("show schemas") == [("default",), ("sales",)]
    assert door.column("show schemas like 'S*'") == ["sales"]
    assert door.column("show schemas in tablestore") == ["default", "sales"]
    assert door.column("show namespaces in tablestore.sales") == []  # a schema holds no schemas
    with pytest.raises(DatabaseNotFound, match="'other' does not exist"):
        door.column("show namespaces in other")
    shown = dict(door.rows("describe schema extended sales"))
    assert shown["Comment"] == "what we sold"
    assert shown["Properties"] == "((team,x))"
    door.run("comment on schema sales is 'better'")
    assert dict(door.rows("describe schema extended sales")) == {**shown, "Comment": "better"}
    door.run("alter database sales set dbproperties ('team' = 'y', z = 1, comment = 'best')")
    changed = {**shown, "Comment": "best", "Properties": "((team,y), (z,1))"}
    assert dict(door.rows("describe schema extended sales")) == changed
    with pytest.raises(DatabaseNotFound):
        door.run("alter schema nope set dbproperties ('a' = 'b')")
    with pytest.raises(SqlError, match="SET DBPROPERTIES"):
        door.run("alter schema sales set location '/x'")
    with pytest.raises(DatabaseAlreadyExists):
        door.run("create schema SALES")
    door.run("drop schema sales")
    assert door.column("show schemas") == ["default"]


def test_a_schema_that_is_not_empty_is_dropped_only_by_cascade(door):
    door.run("create schema s")
    door.run("create table s.t (a int)")
    with pytest.raises(DependencyError, match=r"t.*CASCADE"):
        door.run("drop schema s")
    assert door.column("show tables in s") == ["s"]
    door.run("drop schema s cascade")
    assert not door.catalog.database_exists("s")
    door.run("drop schema if exists s")
    with pytest.raises(DatabaseNotFound):
        door.run("drop schema s")


def test_a_schema_that_holds_what_others_made_is_not_empty(door):
    door.run("create schema s")
    os.makedirs(f"{door.catalog.warehouse}/s.db/precious")
    with pytest.raises(DependencyError, match="precious"):
        door.run("drop schema s restrict")
    assert os.path.isdir(f"{door.catalog.warehouse}/s.db/precious")


def test_the_default_schema_stays(door):
    with pytest.raises(SqlError, match="always"):
        door.run("drop schema default cascade")
