"""What a run does to a materialized view whose model has changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from dbt.adapters.base.relation import EventTimeFilter

from dbt.adapters.tablestore.config.stored_query import is_view_config, of_all_rows, view_step
from dbt.adapters.tablestore.config.table_layout import TableLayout
from dbt.adapters.tablestore.relation.relation import TableStoreRelation
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type

DAY = datetime(2024, 1, 1)
QUERY = "select id from t"
LAYOUT = TableLayout(("id",), (), {"write-only": "true"})


def schema(**options):
    given = {"dbt.query": QUERY, "write-only": "true", "dbt.options": '{"write-only": "true"}', **options}
    columns = [("id", parse_type("INT NOT NULL"), None)]
    return create_schema(columns, ("id",), options={k: v for k, v in given.items() if v is not None}, time_millis=0)


def test_there_is_none():
    assert view_step(None, LAYOUT, QUERY, same_columns=True).name == "CREATE"
    step = view_step(schema(**{"dbt.query": None}), LAYOUT, QUERY, same_columns=True)
    assert (step.name, step.changes) == ("REPLACE", ""), "a table of another materialization is no change of config"


def test_it_is_refreshed():
    step = view_step(schema(), LAYOUT, f"\n{QUERY}\n", same_columns=True)
    assert (step.name, step.changes, step.query) == ("REFRESH", "", QUERY)


@pytest.mark.parametrize(
    ("layout", "query", "same_columns", "changes"),
    [
        (LAYOUT, "select 1 as id", True, "query"),
        (LAYOUT, QUERY, False, "columns"),
        (replace(LAYOUT, primary_key=()), QUERY, True, "primary key"),
        (replace(LAYOUT, partition_by=("id",)), QUERY, True, "partition columns"),
        (replace(LAYOUT, options={"write-only": "true", "bucket": "3"}), QUERY, True, "options"),
    ],
)
def test_it_is_made_anew(layout, query, same_columns, changes):
    step = view_step(schema(), layout, query, same_columns=same_columns)
    assert (step.name, step.changes, step.query) == ("REPLACE", changes, QUERY)


def test_options_are_altered():
    step = view_step(schema(), replace(LAYOUT, options={"write-only": "false"}), QUERY, same_columns=True)
    assert (step.name, step.changes) == ("ALTER", "set write-only = false")
    assert dict(step.options.to_set) == {"write-only": "false"}


def test_the_table_remembers_the_query():
    assert "dbt.query" not in LAYOUT.clauses()
    assert "'dbt.query' = 'select \\'x\\''" in replace(LAYOUT, query="select 'x'").clauses()


def test_the_config_says_what_is_a_view():
    assert is_view_config({"materialized": "materialized_view"})
    assert not is_view_config({"materialized": "view"})


ODD = "`odd (a)`.`t b`"


@pytest.mark.parametrize("name", ["`s`.`t`", ODD])
@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize(("start", "end"), [(None, None), (DAY, None), (None, DAY), (DAY, DAY)])
def test_a_run_of_some_rows_has_the_query_of_all(name, limit, start, end):
    """As dbt renders what it reads, with `--empty` and with `--sample`."""
    schema, table = name.strip("`").split("`.`")
    window = EventTimeFilter(field_name="cast(at as timestamp)", start=start, end=end)
    some = TableStoreRelation.create(schema=schema, identifier=table, limit=limit, event_time_filter=window)
    all_rows = f"select * from {name} a join {name} using (id) where a.v in (select 'x' from u where v < '1')"
    assert TableStoreRelation.create(schema=schema, identifier=table).render() == name
    assert of_all_rows(all_rows.replace(name, str(some))) == all_rows
