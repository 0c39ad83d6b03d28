"""Models of a project that dbt runs, and the rows that they make."""

from __future__ import annotations

import pytest
from dbt.tests.util import relation_from_name, run_dbt, write_file

from tablestore_engine import TableStore

EVENTS = """
{{ config(materialized='table') }}
select * from values
  (1, 'a', date'2024-01-01'), (2, 'b', date'2024-01-01'), (3, 'c', date'2024-01-02')
  as t(id, name, dt)
"""


def rows(project, name, columns="*", order="1"):
    relation = relation_from_name(project.adapter, name)
    return [tuple(one) for one in project.run_sql(f"select {columns} from {relation} order by {order}", fetch="all")]


def store_of(project):
    return TableStore(project.adapter.config.credentials.warehouse, database=project.test_schema)


def table_of(project, name):
    return project.adapter.catalog.load_table(project.test_schema, name)


def model(project, name, text):
    write_file(text, project.project_root, "models", f"{name}.sql")


def run(*args, ok=True):
    """Run dbt; the message and affected rows of each node by name."""
    results = run_dbt(["run", *args], expect_pass=ok)
    return {one.node.name: (one.message, one.adapter_response.get("rows_affected")) for one in results}


class Models:
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": EVENTS}
