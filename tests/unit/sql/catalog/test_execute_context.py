"""The note on options that have no effect: one at CREATE and ALTER."""

from __future__ import annotations

import pytest
from support.execute_door import door  # noqa: F401
from support.logged import logged

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.table.check_constraints import CheckConstraint, check_options
from tablestore_engine.schema.table.computed_columns import ComputedColumn, Watermark, computed_options
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.catalog.execute_context import say_notes
from tablestore_engine.store import TableStore


def test_a_statement_says_which_options_have_no_effect(door, caplog):
    options = "'bucket' = '2', 'lookup.async' = 'true', 'team' = 'sales', 'comment' = 'x'"
    door.run(f"create table t (id int primary key not enforced) with ({options})")
    kept = "Option 'lookup.async' is kept for other engines, without effect here."
    assert logged(caplog) == [kept, "Property 'team' is no table option; kept without effect."]
    door.run(f"create or replace table t (id int primary key not enforced) with ({options})")
    assert len(logged(caplog)) == 2, "a process says the same once"
    door.run("alter table t set tblproperties ('sink.parallelism' = '3', 'write-only' = 'true')")
    TableStore(door.catalog.warehouse).create_table("u", {"id": "int"}, options={"read.batch-size": 10})
    assert [one.split("'")[1] for one in logged(caplog)[2:]] == ["sink.parallelism", "read.batch-size"]
    stored = door.schema("t").options
    assert {"lookup.async": "true", "team": "sales", "sink.parallelism": "3"}.items() <= stored.items()


def test_options_that_keep_parts_of_the_table_are_not_noted(caplog):
    parts = computed_options([ComputedColumn(1, "twice", "id * 2", "x", "INT")], Watermark("at", "at"))
    schema = create_schema([("id", parse_type("INT"), None)])
    say_notes({**parts, **check_options([CheckConstraint("positive", "id > 0")]), "squad": "x"}, schema)
    assert logged(caplog) == ["Property 'squad' is no table option; kept without effect."]


def test_a_misspelt_option_leaves_the_table_unchanged(door, caplog):
    door.run("create table t (id int)")
    with pytest.raises(OptionError, match=r"Did you mean 'tag\.default-time-retained'"):
        door.run("alter table t set tblproperties ('team' = 'a', 'tag.default-time-retainned' = '1 d')")
    assert (dict(door.schema("t").options), logged(caplog)) == ({}, [])


def test_options_that_need_what_a_table_lacks_are_noted_at_create_and_alter(door, caplog):
    door.run("create table a (id int) with ('data-file.thin-mode' = 'true', 'log.retention' = '1 d')")
    assert logged(caplog) == [
        "Option 'data-file.thin-mode' has no effect without a primary key.",
        "Option 'log.retention' has no effect without 'log.system' = 'kafka'.",
    ]
    door.run("alter table a set tblproperties ('num-sorted-run.compaction-trigger' = '3')")
    assert logged(caplog)[2:] == ["Option 'num-sorted-run.compaction-trigger' has no effect without a primary key."]
    door.run("create table k (id int primary key not enforced) with ('num-levels' = '3')")
    assert len(logged(caplog)) == 3
