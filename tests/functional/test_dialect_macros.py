"""Which macro of a package `adapter.dispatch` finds in the text of a node that is written in a dialect."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from dbt_common.exceptions import DbtRuntimeError

PROJECT = "{name: pack, version: '1.0', config-version: 2}"
MACROS = """
{% macro side() %}{{ return(adapter.dispatch('side', 'pack')()) }}{% endmacro %}
{% macro snowflake__side() %}'snow'{% endmacro %}
{% macro postgres__side() %}'post'{% endmacro %}
{% macro spark__side() %}'spark'{% endmacro %}
{% macro default__side() %}'any'{% endmacro %}

{% macro shared() %}{{ return(adapter.dispatch('shared', 'pack')()) }}{% endmacro %}
{% macro spark__shared() %}'spark'{% endmacro %}
{% macro default__shared() %}'any'{% endmacro %}

{% macro snows() %}{{ return(adapter.dispatch('snows', 'pack')()) }}{% endmacro %}
{% macro snowflake__snows() %}'snow'{% endmacro %}

{% macro sparks() %}{{ return(adapter.dispatch('sparks', 'pack')()) }}{% endmacro %}
{% macro spark__sparks() %}'spark'{% endmacro %}

{% macro own() %}{{ return(adapter.dispatch('own', 'pack')()) }}{% endmacro %}
{% macro tablestore__own() %}'own'{% endmacro %}
{% macro snowflake__own() %}'snow'{% endmacro %}

{% macro get_tables_sql() %}{{ return(adapter.dispatch('get_tables_sql', 'pack')()) }}{% endmacro %}
{% macro snowflake__get_tables_sql() %}'snow'{% endmacro %}
{% macro default__get_tables_sql() %}'any'{% endmacro %}

{% test holds(model) %}select {{ pack.side() }} as a from {{ model }} where 1 = 0{% endtest %}
"""
BOTH = "select {{ pack.side() }} as a, {{ pack.shared() }} as b"


class TestMacrosOfAPackage:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"test": {"snow": {"+dialect": "snowflake"}}}}

    @pytest.fixture(scope="class")
    def packages(self):
        return {"packages": [{"local": "pack"}]}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "snow": {
                "of_snow.sql": BOTH
                + ", {{ pack.snows() }} as c, {{ pack.own() }} as d, {{ pack.get_tables_sql() }} as e",
                "inner_text.sql": "{{ config(materialized='ephemeral') }} " + BOTH,
                "all.yml": "models: [{name: of_snow, data_tests: [pack.holds]}]",
            },
            "of_redshift.sql": "{{ config(dialect='redshift') }} " + BOTH,
            "of_duckdb.sql": "{{ config(dialect='duckdb') }} " + BOTH + " from {{ ref('inner_text') }}",
            "of_databricks.sql": "{{ config(dialect='databricks') }} " + BOTH,
            "of_spark.sql": BOTH,
            "in_block.sql": "{{ config(dialect='snowflake') }} select {{ pack.snows() }} as a",
            "refused.sql": "{{ config(dialect='trino', enabled=var('failing', false)) }} "
            "select {{ pack.sparks() }} as a",
            "unknown.sql": "{{ config(enabled=var('failing', false)) }} select {{ pack.snows() }} as a",
        }

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {
            "kept.sql": "{% snapshot kept %}{{ config(unique_key='a', strategy='check', check_cols=['b'], "
            "dialect='postgres') }} " + BOTH + "{% endsnapshot %}"
        }

    @pytest.fixture(scope="class")
    def tests(self):
        return {"singular.sql": "{{ config(dialect='bigquery') }} " + BOTH + " where 1 = 0"}

    @pytest.fixture(scope="class", autouse=True)
    def package(self, project):
        folder = Path(project.project_root) / "pack" / "macros"
        folder.mkdir(parents=True)
        (folder.parent / "dbt_project.yml").write_text(PROJECT, encoding="utf-8")
        (folder / "macros.sql").write_text(MACROS, encoding="utf-8")
        run_dbt(["deps"])

    @pytest.fixture(scope="class")
    def compiled(self, package):
        """The texts that the macros gave, by the node."""
        nodes = [one.node for one in run_dbt(["compile"])]
        return {one.name: one.compiled_code.split("'")[1::2] for one in nodes}, nodes

    def test_the_macro_of_the_warehouse_is_found_and_then_the_default(self, compiled):
        texts, _ = compiled
        assert texts["of_snow"] == ["snow", "any", "snow", "own", "any"]
        assert texts["of_redshift"] == ["post", "any"]
        assert texts["kept"] == ["post", "any"]
        assert texts["singular"] == ["any", "any"]

    def test_each_text_has_its_own_dialect(self, compiled):
        texts, _ = compiled
        assert texts["of_duckdb"] == ["snow", "any", "any", "any"]
        assert texts["of_spark"] == texts["of_databricks"] == ["spark", "spark"]
        assert texts["pack_holds_of_snow_"] == ["spark"]

    def test_the_macro_is_one_that_the_node_depends_on(self, compiled):
        _, nodes = compiled
        macros = {one.name: one.depends_on.macros for one in nodes}
        assert "macro.pack.snowflake__side" in macros["of_snow"]
        assert "macro.pack.snowflake__snows" in macros["in_block"]
        assert "macro.pack.snowflake__side" not in macros["of_spark"]

    def test_a_text_for_spark_alone_is_refused_in_another_dialect(self, project):
        with pytest.raises(DbtRuntimeError, match=r"sparks has a text for Spark \(spark__sparks\), and none for trino"):
            run_dbt(["compile", "-s", "refused", "--vars", "{failing: true}"])

    def test_a_macro_of_another_warehouse_alone_is_none_for_spark(self, project):
        with pytest.raises(DbtRuntimeError, match="No macro named 'snows' found"):
            run_dbt(["compile", "-s", "unknown", "--vars", "{failing: true}"])
