"""dbt's suite of materialized views: tables that remember their query and are refreshed by each run.

`make conformance` runs all of it; the default suite some tests of the basic class.
"""

from __future__ import annotations

import pytest
from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
    MaterializedViewChangesContinueMixin,
    MaterializedViewChangesFailMixin,
)
from dbt.tests.util import get_model_file, run_dbt, set_model_file
from support.dbt_models import table_of

from dbt.adapters.tablestore.relation.cache_and_catalog import describe


def relation_type(project, relation):
    return describe(project.adapter.catalog, project.test_schema, relation.identifier).kind


@pytest.mark.default_suite(
    "test_materialized_view_full_refresh",
    "test_view_replaces_materialized_view",
    "test_materialized_view_only_updates_after_refresh",
)
class TestMaterializedViewBasic(MaterializedViewBasic):
    @staticmethod
    def insert_record(project, table, record):
        project.run_sql(f"insert into {table} values {record}")

    @staticmethod
    def refresh_materialized_view(project, materialized_view):
        run_dbt(["run", "--models", materialized_view.identifier])

    @staticmethod
    def query_row_count(project, relation):
        return project.run_sql(f"select count(*) from {relation}", fetch="one")[0]

    @staticmethod
    def query_relation_type(project, relation):
        return relation_type(project, relation)


class TestRunsOfSomeRows:
    """`--empty` and `--sample` make no other view of it, so that models of its changes go on."""

    @pytest.fixture(scope="class")
    def models(self):
        raw = "{{ config(materialized='table', event_time='at') }} select 1 as id, timestamp'2024-01-01' as at"
        view = "{{ config(materialized='materialized_view', on_configuration_change='fail') }}"
        return {"raw.sql": raw, "mv.sql": f"{view} select id from {{{{ ref('raw') }}}}"}

    def test_the_view_stays(self, project):
        run_dbt(["run", "--empty"])
        query = table_of(project, "mv").schema.options["dbt.query"]
        run_dbt(["run"])
        rows = [project.run_sql(f"select count(*) from {project.test_schema}.mv", fetch="one")[0]]
        for some in ("--empty", "--sample=1 day"):
            run_dbt(["run", "-s", "mv", some])
            rows.append(table_of(project, "mv").latest_snapshot().total_record_count)
        assert rows == [1, 0, 0]
        assert table_of(project, "mv").schema.id == 0
        assert table_of(project, "mv").schema.options["dbt.query"] == query


class Changes(MaterializedViewChanges):
    """An option of the table is altered; a primary key makes the view anew."""

    @staticmethod
    def check_start_state(project, materialized_view):
        schema = table_of(project, materialized_view.identifier).schema
        assert schema.primary_keys == ()
        assert "target-file-size" not in schema.options

    @staticmethod
    def change_config_via_alter(project, materialized_view):
        change(project, materialized_view, "table_options={'target-file-size': '64 mb'},")

    @staticmethod
    def check_state_alter_change_is_applied(project, materialized_view):
        assert table_of(project, materialized_view.identifier).schema.options["target-file-size"] == "64 mb"

    @staticmethod
    def change_config_via_replace(project, materialized_view):
        change(project, materialized_view, "primary_key='id',")

    @staticmethod
    def check_state_replace_change_is_applied(project, materialized_view):
        assert table_of(project, materialized_view.identifier).schema.primary_keys == ("id",)

    @staticmethod
    def query_relation_type(project, relation):
        return relation_type(project, relation)


def change(project, relation, config):
    text = get_model_file(project, relation)
    set_model_file(project, relation, text.replace("materialized=", f"{config}\n    materialized="))


@pytest.mark.conformance
class TestApply(Changes, MaterializedViewChangesApplyMixin):
    pass


@pytest.mark.conformance
class TestContinue(Changes, MaterializedViewChangesContinueMixin):
    pass


@pytest.mark.conformance
class TestFail(Changes, MaterializedViewChangesFailMixin):
    pass
