"""Commands that need no rows start no Spark, and the plugin is light to import."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future

import pytest
from dbt.tests.util import run_dbt

MODELS = {
    "a.sql": "select 1 as id",
    "b.sql": "{{ config(materialized='incremental', unique_key='id') }} select * from {{ ref('a') }}"
    " {% if is_incremental() %} where id > 0 {% endif %}",
    "sources.yml": """
sources:
  - name: raw
    schema: "{{ target.schema }}"
    tables:
      - name: events
        config:
          freshness: {warn_after: {count: 1, period: day}}
      - name: dated
        config:
          loaded_at_field: at
          freshness: {warn_after: {count: 1, period: day}}
""",
}


@pytest.fixture
def no_spark(monkeypatch):
    def refuse(config=None):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("dbt.adapters.tablestore.connection.environment._roots", {})
    monkeypatch.setattr("tablestore_engine.spark.session.session.start_in_background", refuse)


class Parsed(Exception):
    """dbt has come to its parsing."""


@pytest.fixture
def until_parsed(monkeypatch):
    """The events, in order, until dbt began to parse; the start of Spark is requested and never finishes."""
    events = []

    def start(config):
        events.append("Spark starts")
        return Future()

    def parse(loader):
        events.append("dbt parses")
        raise Parsed

    monkeypatch.setattr("dbt.adapters.tablestore.connection.environment._roots", {})
    monkeypatch.setattr("tablestore_engine.spark.session.session.start_in_background", start)
    monkeypatch.setattr("dbt.parser.manifest.ManifestLoader.load", parse)
    return events


class TestWithoutSpark:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def tables(self, project):
        from tablestore_engine.schema.table.create_schema import create_schema
        from tablestore_engine.schema.types.types import AtomicType

        catalog = project.adapter.catalog
        for name in ("events", "dated"):
            columns = [
                ("id", AtomicType("BIGINT"), None),
                ("at", AtomicType("TIMESTAMP_LTZ"), "when it came"),
            ]
            catalog.create_table(project.test_schema, name, create_schema(columns))

    @pytest.mark.parametrize("command", [["parse"], ["list"], ["compile"], ["debug"], ["docs", "generate"]])
    def test_commands_without_rows(self, project, no_spark, command):
        run_dbt(command)

    def test_the_catalog(self, project, no_spark):
        catalog = run_dbt(["docs", "generate"])
        found = catalog.sources["source.test.raw.events"]
        assert {name: one.type for name, one in found.columns.items()} == {"id": "bigint", "at": "timestamp"}
        assert found.columns["at"].comment == "when it came"
        assert found.stats["row_count"].value == 0

    def test_freshness(self, project, no_spark):
        results = run_dbt(["source", "freshness"], expect_pass=None)
        assert {one.node.name: one.status for one in results} == {"events": "warn", "dated": "warn"}

    @pytest.mark.parametrize(
        "command",
        [["run"], ["build"], ["test"], ["seed"], ["snapshot"], ["show", "--inline", "select 1"]],
        ids=lambda command: command[0],
    )
    def test_commands_with_rows_start_it_before_dbt_parses(self, project, until_parsed, command):
        """So that dbt parses while Spark starts. A start that waits for the first row would come behind."""
        with pytest.raises(Parsed):
            run_dbt(command)
        assert until_parsed == ["Spark starts", "dbt parses"]

    def test_commands_without_rows_do_not(self, project, until_parsed):
        with pytest.raises(Parsed):
            run_dbt(["compile"])
        assert until_parsed == ["dbt parses"]


def test_the_plugin_imports_nothing_heavy():
    heavy = "[one for one in ('pyspark', 'pyarrow', 'pandas', 'numpy', 'sqlglot', 'fastavro') if one in sys.modules]"
    script = f"import sys, dbt.adapters.tablestore; print({heavy})"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == ("[]\n")
