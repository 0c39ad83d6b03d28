"""Which constraints of a contract a table keeps, and which of its own are dropped again."""

from __future__ import annotations

import pytest
from support.tables import make_table, reload, write

from dbt.adapters.tablestore.config.option_changes import option_changes
from dbt.adapters.tablestore.config.table_constraints import NO_CONSTRAINTS, TableConstraints, constraint_clauses
from tablestore_engine.schema.alter.apply_changes import apply_changes
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.table.schema_changes import AddCheckConstraint, SetNullability

POSITIVE = {"type": "check", "name": "positive", "expression": "v > 0"}


def model(columns, constraints=(), *, enforced=True, materialized="incremental"):
    described = {name: {"name": name, "constraints": list(each)} for name, each in columns.items()}
    config = {"contract": {"enforced": enforced}, "materialized": materialized}
    return {"columns": described, "constraints": list(constraints), "config": config}


def not_null(schema):
    return [one.name for one in schema.fields if not one.type.nullable]


def test_only_enforced_contracts_of_tables_count():
    columns = {"id": [{"type": "not_null"}, {"type": "unique"}], "v": [POSITIVE]}
    more = [{"type": "not_null", "columns": ["v"]}, {"type": "check", "expression": "v < id"}]
    found = TableConstraints.of(model(columns, more))
    assert found.not_null == ("id", "v")
    assert [(one.name, one.sql) for one in found.checks] == [("positive", "v > 0"), ("id_check", "v < id")]
    assert TableConstraints.of(model(columns, enforced=False)) == NO_CONSTRAINTS
    assert TableConstraints.of(model(columns, materialized="view")) == NO_CONSTRAINTS


@pytest.fixture
def table(tmp_path):
    """A table that was built from a model: `a` is NOT NULL, and `v` positive."""
    found = TableConstraints.of(model({"a": [{"type": "not_null"}], "v": [POSITIVE]}))
    made = make_table(tmp_path, {"id": "INT", "a": "INT", "v": "INT"}, ["id"])
    made = made.alter(*found.of_new_table(made.schema, {}))
    assert not_null(made.schema) == ["id", "a"]
    write(made, [{"id": 1, "a": 1, "v": 1}])
    return reload(made)


def test_constraints_that_the_model_no_longer_names_are_dropped(table):
    same = TableConstraints.of(model({"A": [{"type": "not_null"}], "v": [POSITIVE]})).changes(table.schema)
    assert (same.dropped, same.strict, same.checks) == ((), (), ())
    changes = NO_CONSTRAINTS.changes(table.schema)
    schema = apply_changes(table.schema, changes.dropped, 0)
    assert (not_null(schema), check_constraints(schema.options)) == (["id"], ())
    assert option_changes(table.schema.options, {}).text == "", "the console names options only"


def test_constraints_that_others_added_stay(table):
    snapshot = table.latest_snapshot().id
    added = AddCheckConstraint("mine", "v < 9", snapshot, table.schema.id)
    table = table.alter(added, SetNullability("v", nullable=False))
    schema = apply_changes(table.schema, NO_CONSTRAINTS.changes(table.schema).dropped, 0)
    assert not_null(schema) == ["id", "v"]
    assert [one.name for one in check_constraints(schema.options)] == ["mine"]


def test_a_condition_that_changed_is_dropped_and_added(table):
    other = {**POSITIVE, "expression": "v >= 1"}
    changes = TableConstraints.of(model({"v": [other, {"type": "not_null"}]})).changes(table.schema)
    assert len(changes.dropped) == 2
    assert [one.name for one in changes.strict] == ["v"]
    assert [one.sql for one in changes.checks] == ["v >= 1"]


def test_a_copy_lists_columns_and_constraints(table):
    assert constraint_clauses(table.schema) == [
        "`id`", "`a` not null", "`v`", "constraint `positive` check (v > 0)",
    ]  # fmt: skip
    assert constraint_clauses(make_table(table.path, {"id": "INT"}, ["id"]).schema) == []
