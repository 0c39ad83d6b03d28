"""`dbt run-operation` on tables of a project, and system tables as sources."""

import os

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from support.dbt_models import table_of

MODELS = {
    "orders.sql": """
{{ config(materialized='incremental', unique_key=['dt', 'id'], alias='kept_orders', partition_by='dt',
          table_options={'write-only': 'true'}) }}
select 1 as id, '2020-01-01' as dt, {{ var('v', 0) }} as v
union all select 2, '2100-01-01', {{ var('v', 0) }}
""",
    "hooked.sql": """
{{ config(materialized='incremental', unique_key='id', post_hook="{{ compact(this) }}") }}
select 1 as id
""",
    "care.sql": "select snapshot_id, commit_kind from {{ source('care', 'history') }}",
    "sources.yml": """
sources:
  - name: care
    schema: "{{ target.schema }}"
    tables:
      - name: history
        identifier: "kept_orders$snapshots"
        columns: [{name: snapshot_id, data_tests: [not_null, unique]}]
      - name: raw
        identifier: kept_orders
      - name: log
        identifier: "kept_orders$audit_log"
        config: {freshness: {warn_after: {count: 1, period: day}}}
""",
}


class TestRunOperation:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        for v in range(3):
            run_dbt(["run", "--select", "orders", "--vars", f"v: {v}"])

    def operate(self, name, args):
        _, output = run_dbt_and_capture(["run-operation", name, "--args", args])
        return output

    def value(self, project):
        return project.run_sql(f"select max(v) from {project.test_schema}.kept_orders", fetch="one")[0]

    def test_a_life(self, project):
        name = f"{project.test_schema}.kept_orders"
        assert f"create_tag {name}: done" in self.operate("create_tag", "{table: orders, tag: first, snapshot: 1}")
        assert f"compact {name}: compacted" in self.operate("compact", "{table: orders}")
        assert self.value(project) == 2
        output = self.operate("rollback", "{table: orders, version: first}")
        assert f"rollback {name}: snapshot 5 has the rows of snapshot 1 again" in output
        assert self.value(project) == 0
        self.operate("rollback", "{table: care.raw, version: 3}")
        assert self.value(project) == 2
        output = self.operate("expire", f"{{table: {name}, retain_max: 2}}")
        assert f"expire_snapshots {name}: 4 snapshots expired" in output
        assert f"create_tag {name}: done" in self.operate("tag", "{table: orders, tag: second, snapshot: 6}")
        assert "delete_tag" in self.operate("delete_tag", "{table: kept_orders, tag: first}")
        output = self.operate("expire_partitions", "{table: orders, expiration_time: 30 d}")
        assert "1 expired partition" in output
        assert "dt=2020-01-01" in output
        path = os.path.join(table_of(project, "kept_orders").path, "manifest")
        with open(os.path.join(path, "manifest-lost-0"), "w") as file:
            file.write("x")
        os.utime(file.name, (0, 0))
        output = self.operate("remove_orphan_files", "{table: orders, older_than: 2020-01-01 00:00:00, dry_run: true}")
        assert file.name in output and os.path.exists(file.name)
        self.operate("remove_orphan_files", "{table: orders}")
        assert not os.path.exists(file.name)
        output = self.operate("tablestore_call", "{procedure: expire_tags, table: orders}")
        assert "0 expired tags" in output

    def test_in_a_hook(self, project):
        for _ in range(2):
            _, output = run_dbt_and_capture(["run", "--select", "hooked"])
        assert f"compact {project.test_schema}.hooked: compacted" in output

    @pytest.mark.parametrize(
        ("name", "args", "message"),
        [
            ("compact", "{table: ordes}", "ordes' does not exist"),
            ("rollback", "{table: orders, version: nothing}", "Tag 'nothing' of table "),
            ("expire_snapshots", "{table: orders, retain_max: none}", "retain_max is a number"),
        ],
    )
    def test_wrong_arguments_are_refused(self, project, name, args, message):
        _, output = run_dbt_and_capture(["run-operation", name, "--args", args], expect_pass=False)
        assert message in output

    def test_system_tables_are_sources(self, project):
        results = run_dbt(["build", "--select", "care", "source:care"])
        assert {one.status for one in results} <= {"success", "pass"}
        assert len(results) == 3
        rows = project.run_sql(f"select count(*) from {project.test_schema}.care", fetch="one")
        assert rows[0] > 0
        catalog = run_dbt(["docs", "generate"])
        found = catalog.sources["source.test.care.history"]
        assert found.columns["snapshot_id"].type == "bigint"
        assert "rowkind" in catalog.sources["source.test.care.log"].columns
        assert catalog.errors is None
        (fresh,) = run_dbt(["source", "freshness"])
        assert fresh.status == "pass"


class TestAMacroOfTheProject:
    """Its name is the project's first."""

    @pytest.fixture(scope="class")
    def macros(self):
        return {"mine.sql": "{% macro compact() %}{% do log('mine', info=true) %}{% endmacro %}"}

    def test_it_comes_first(self, project):
        _, output = run_dbt_and_capture(["run-operation", "compact"])
        assert "mine" in output
