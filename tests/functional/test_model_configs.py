"""Configs of models: options of their tables, and configs of other adapters."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, update_config_file, write_file
from support.dbt_models import Models, model, rows, run, table_of

from tablestore_engine.sql.catalog import execute_context


class TestOptions(Models):
    def test_an_option_that_may_change_is_changed(self, project):
        text = """
{{{{ config(materialized='incremental', unique_key='id', table_options={{'write-only': {value}}}) }}}}
select * from {{{{ ref('events') }}}}
"""
        model(project, "tuned", text.format(value="true"))
        run("--full-refresh")
        model(project, "tuned", text.format(value="false"))
        assert "; set write-only = false" in run("-s", "tuned")["tuned"][0]
        assert table_of(project, "tuned").schema.options["write-only"] == "false"
        model(
            project, "tuned", text.format(value="false").replace("table_options={'write-only': false}", "alias='tuned'")
        )
        assert "; reset write-only" in run("-s", "tuned")["tuned"][0]
        assert {"write-only", "dbt.options"}.isdisjoint(table_of(project, "tuned").schema.options)
        model(project, "tuned", text.format(value="true").replace("incremental", "table"))
        assert "; set write-only = true" in run("-s", "tuned")["tuned"][0]

    def test_a_number_of_buckets_that_is_no_longer_named_is_kept_with_a_note(self, project):
        text = "{{{{ config(materialized='incremental', unique_key='id'{}) }}}} select 1 as id"
        model(project, "bucketed", text.format(", buckets=3"))
        run("-s", "bucketed")
        model(project, "bucketed", text.format(""))
        assert "; kept bucket = 3" in run("-s", "bucketed")["bucketed"][0]
        assert table_of(project, "bucketed").schema.options["bucket"] == "3"
        assert "kept" not in run("-s", "bucketed")["bucketed"][0]

    def test_options_reach_the_table(self, project):
        model(
            project,
            "options",
            """
{{ config(materialized='table', primary_key=['id', 'dt'], partition_by=['dt'], buckets=3, sequence_field='name',
          table_options={'target-file-size': '64 mb'}) }}
select * from {{ ref('events') }}
""",
        )
        run()
        schema = table_of(project, "options").schema
        assert (schema.primary_keys, schema.partition_keys) == (("id", "dt"), ("dt",))
        assert schema.options["bucket"] == "3"
        assert schema.options["sequence.field"] == "name"
        assert schema.options["target-file-size"] == "64 mb"

    @pytest.mark.parametrize(
        ("config", "hint"),
        [
            ("primary_keys='id'", "primary_key"),
            ("table_options={'target-file-sise': '1 mb'}", "target-file-size"),
        ],
    )
    def test_a_misspelling_is_reported(self, project, config, hint):
        model(project, "options", f"{{{{ config(materialized='table', {config}) }}}} select 1 as id")
        message, _ = run("-s", "options", ok=False)["options"]
        assert f"Did you mean '{hint}'?" in message

    def test_a_key_without_its_partition_is_refused_in_a_fixed_number_of_buckets(self, project):
        configs = "materialized='table', primary_key='id', partition_by='dt', buckets=2"
        text = f"{{{{ config({configs}) }}}} select 1 as id, 2 as dt"
        model(project, "options", text)
        message, _ = run("-s", "options", ok=False)["options"]
        assert "must contain all partition columns" in message

    def test_grants_warn_once(self, project):
        for name in ("one", "two"):
            model(project, name, "{{ config(grants={'select': ['me']}) }} select 1 as id")
        _, log = run_dbt_and_capture(["run", "-s", "one", "two"])
        assert log.count("grants are ignored") == 1


class TestOptionsOfOtherNodes:
    """An option that a seed, a snapshot or a materialized view no longer names goes back to its default, too."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"view.sql": "{{ config(materialized='materialized_view') }} select 1 as id"}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seed.csv": "id,v\n1,a\n"}

    @pytest.fixture(scope="class")
    def snapshots(self):
        config = "{unique_key: id, strategy: check, check_cols: [v]}"
        return {"snap.yml": f"snapshots: [{{name: snap, relation: ref('seed'), config: {config}}}]"}

    def test_options_change_and_the_console_says_so(self, project):
        def build(said, **options):
            config = {"test": {"+table_options": options}} if options else {}
            update_config_file(dict.fromkeys(("models", "seeds", "snapshots"), config), "dbt_project.yml")
            for result in run_dbt(["build"]):
                assert said in str(result.adapter_response["_message"]), result.node.name

        build("", **{"write-only": "true"})
        build("; set write-only = false", **{"write-only": "false"})
        build("; reset write-only")
        for name in ("view", "seed", "snap"):
            assert {"write-only", "dbt.options"}.isdisjoint(table_of(project, name).schema.options)

    def test_a_changed_option_that_has_no_effect_is_noted_once(self, project):
        config = {"test": {"+table_options": {"tag.creation-period": "hourly"}}}
        update_config_file(dict.fromkeys(("models", "seeds", "snapshots"), config), "dbt_project.yml")
        for node in ("view", "snap"):
            for said in (1, 0):
                execute_context._say_once.cache_clear()  # as in another process
                _, log = run_dbt_and_capture(["build", "-s", node])
                assert log.count("Option 'tag.creation-period' has no effect without") == said, node


class TestModelsOfOtherAdapters(Models):
    """Configs as public packages and Delta or BigQuery projects have them."""

    def test_ignored_configs_are_reported_once(self, project):
        for name in ("one", "two"):
            model(
                project,
                name,
                """
{{ config(materialized='incremental', unique_key='id', cluster_by=['id'], zorder=none, on_schema_change='ignore',
          partition_by={'field': 'dt', 'data_type': 'date'}, incremental_strategy='delete+insert',
          tblproperties={'delta.appendOnly': 'false', 'write-only': 'true'}) }}
select * from {{ ref('events') }}
""",
            )
        for args in (["--full-refresh"], []):
            _, log = run_dbt_and_capture(["run", *args])
            assert log.count("Config `cluster_by`") == 1
            assert log.count("'delta.appendOnly'") == 1
            assert "zorder" not in log
        schema = table_of(project, "one").schema
        assert (schema.partition_keys, schema.primary_keys) == (("dt",), ())
        assert schema.options["write-only"] == "true"
        assert len(rows(project, "two")) == 3

    def test_a_package_drops_what_it_made_under_a_temporary_name(self, project):
        macro = """
{% macro scratch() %}
  {% set temp = make_temp_relation(this, '__scratch').incorporate(type='table') %}
  {% do run_query('create table ' ~ temp ~ ' as select 1 as id') %}
  {% do adapter.drop_relation(temp) %}
  {% do run_query('create temporary view ' ~ temp ~ ' as select 2 as id') %}
  {% do adapter.drop_relation(temp) %}
  {% do adapter.drop_relation(temp) %}
{% endmacro %}
"""
        write_file(macro, project.project_root, "macros", "scratch.sql")
        model(project, "scratched", "{{ config(materialized='table', post_hook='{{ scratch() }}') }} select 1 as id")
        run("-s", "scratched")
        assert not [one for one in project.adapter.catalog.list_tables(project.test_schema) if "__scratch" in one]

    PARTITIONED = """
{{{{ config(materialized='incremental', incremental_strategy='merge', unique_key={key}, partition_by=['dt'],
          file_format='delta', {more}) }}}}
{{% if is_incremental() %}}
select *
from values (2, 'B', date'2024-01-05'), (3, 'C', date'2024-01-02'), (4, 'd', date'2024-01-01') as t(id, name, dt)
{{% else %}}
select * from {{{{ ref('events') }}}}
{{% endif %}}
"""

    @pytest.mark.parametrize("more", ["", "merge_update_columns=['name', 'dt']"])
    def test_a_row_changes_its_partition(self, project, more):
        model(project, "moving", self.PARTITIONED.format(key="'id'", more=more))
        run("--full-refresh")
        schema = table_of(project, "moving").schema
        assert (schema.primary_keys, schema.partition_keys) == (("id",), ("dt",))
        run("-s", "moving")
        assert rows(project, "moving", "id, name, cast(dt as string)") == [
            (1, "a", "2024-01-01"), (2, "B", "2024-01-05"), (3, "C", "2024-01-02"), (4, "d", "2024-01-01"),
        ]  # fmt: skip

    def test_a_key_that_is_the_partition(self, project):
        text = """
{{ config(materialized='incremental', unique_key='dt', partition_by={'field': 'dt', 'data_type': 'date'}) }}
{% if is_incremental() %} select date'2024-01-02' as dt, 7 as n union all select date'2024-01-03', 1
{% else %} select dt, cast(count(*) as int) as n from {{ ref('events') }} group by dt {% endif %}
"""
        model(project, "days", text)
        run("--full-refresh")
        assert table_of(project, "days").schema.primary_keys == ()
        run("-s", "days")
        assert rows(project, "days", "cast(dt as string), n") == [
            ("2024-01-01", 2),
            ("2024-01-02", 7),
            ("2024-01-03", 1),
        ]

    def test_a_primary_key_as_a_text(self, project):
        model(
            project,
            "keyed",
            """
{{ config(materialized='incremental', primary_key='id, dt', partition_by='dt', merge_update_columns=['name']) }}
{% if is_incremental() %} select 1 as id, 'A' as name, date'2024-01-01' as dt
{% else %} select * from {{ ref('events') }} {% endif %}
""",
        )
        run("--full-refresh")
        run("-s", "keyed")
        assert rows(project, "keyed", "id, name") == [(1, "A"), (2, "b"), (3, "c")]
