"""A model that reads a damaged table fails with one message: which table, which file, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from support.files import live_paths

BASE = "{{ config(materialized='table') }} select id, concat('text ', id) as v from range(300)"
READS = "{{ config(materialized='table') }} select max(v) as v from {{ ref('base') }}"
DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "broken pages": lambda path: path.write_bytes(_broken(path.read_bytes())),
    "missing": Path.unlink,
}


def _broken(data):
    return data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :]


class TestDamagedTable:
    @pytest.fixture(scope="class")
    def models(self):
        return {"base.sql": BASE, "reads.sql": READS}

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_one_message(self, project, damage):
        run_dbt(["run", "-s", "base", "--full-refresh"])
        table = project.adapter.catalog.load_table(project.test_schema, "base")
        (path,) = live_paths(table)
        DAMAGES[damage](Path(path))
        (result,) = run_dbt(["run", "-s", "reads"], expect_pass=False)
        assert f"{path} (table {project.test_schema}.base): " in result.message
        assert "CALL sys.rollback" in result.message
        for foreign in ("Traceback", "\tat ", "Caused by", "py4j", "org.apache"):
            assert foreign not in result.message
