"""`dbt retry` runs again what failed and what was skipped for it, and leaves alone what was built."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

GOOD = "{{ config(materialized='table') }} select 1 as id"
BAD = "{{ config(materialized='table') }} select nothing as id from {{ ref('good') }}"
MENDED = "{{ config(materialized='table') }} select id + 1 as id from {{ ref('good') }}"
BEHIND = "{{ config(materialized='incremental', unique_key='id') }} select id * 10 as id from {{ ref('bad') }}"


def statuses(results):
    return {one.node.name: str(one.status) for one in results}


class TestRetry:
    @pytest.fixture(scope="class")
    def models(self):
        return {"good.sql": GOOD, "bad.sql": BAD, "behind.sql": BEHIND}

    def snapshot(self, project, name):
        return project.adapter.catalog.load_table(project.test_schema, name).latest_snapshot()

    def exists(self, project, name):
        return project.adapter.catalog.table_exists(project.test_schema, name)

    def ids(self, project, name):
        table = project.adapter.catalog.load_table(project.test_schema, name)
        return table.to_arrow().column("id").to_pylist()

    def test_only_what_failed_runs_again(self, project):
        first = run_dbt(["run"], expect_pass=False)
        assert statuses(first) == {"good": "success", "bad": "error", "behind": "skipped"}
        built = self.snapshot(project, "good")
        assert not self.exists(project, "bad")

        # Nothing was mended: the same again.
        again = run_dbt(["retry"], expect_pass=False)
        assert statuses(again) == {"bad": "error", "behind": "skipped"}

        write_file(MENDED, project.project_root, "models", "bad.sql")
        third = run_dbt(["retry"])
        assert statuses(third) == {"bad": "success", "behind": "success"}
        assert self.snapshot(project, "good") == built
        assert self.ids(project, "bad") == [2]
        assert self.ids(project, "behind") == [20]

        # Nothing failed: nothing to do.
        done = self.snapshot(project, "behind")
        assert statuses(run_dbt(["retry"])) == {}
        assert self.snapshot(project, "behind") == done
