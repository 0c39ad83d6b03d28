"""A model that reads or writes a damaged table fails with one message: which table, which file, what to do."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from support.damaged import EVERY_DAMAGE, FILES, NOT_NEEDED, STATEMENTS, WHOLE_PRODUCT, broken, make_tables
from support.dbt_models import table_of
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


FOREIGN = ("Traceback", "\tat ", "Caused by", "py4j", "org.apache")


class TestDamagedTable:
    @pytest.fixture(scope="class")
    def models(self):
        return {"base.sql": BASE, "reads.sql": READS}

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_one_message(self, project, damage):
        run_dbt(["run", "-s", "base", "--full-refresh"])
        table = table_of(project, "base")
        (path,) = live_paths(table)
        DAMAGES[damage](Path(path))
        (result,) = run_dbt(["run", "-s", "reads"], expect_pass=False)
        assert f"{path} (table {project.test_schema}.base): " in result.message
        assert "CALL sys.rollback" in result.message
        assert not [one for one in FOREIGN if one in result.message]


def name_of(kind):
    return "of_" + kind.replace(", ", "_").replace(" ", "_")


def model_of(kind):
    """A query, or a statement before one."""
    statement = STATEMENTS[kind].format(f"default.{name_of(kind)}")
    hook = "" if statement.startswith("select") else f', pre_hook="{statement}"'
    return f'{{{{ config(materialized="table"{hook}) }}}} {"select 1 as n" if hook else statement}'


class TestEveryKindOfFile:
    """One model for each kind, in one run; the damages take turns, and `make damages` plays as many runs as damages."""

    @pytest.fixture(scope="class")
    def models(self):
        return {f"m_{name_of(kind)}.sql": model_of(kind) for kind in FILES}

    @pytest.fixture(scope="class")
    def paths(self, project):
        """The file that is broken for each model."""
        catalog, paths = project.adapter.catalog, {}
        make_tables(catalog)
        for kind, (name, path_of) in FILES.items():
            table = Path(catalog.load_table("default", name).path)
            shutil.copytree(table, table.with_name(name_of(kind)))
            paths[kind] = path_of(catalog.load_table("default", name_of(kind)))
        return paths

    @pytest.mark.parametrize("turn", range(len(EVERY_DAMAGE) if WHOLE_PRODUCT else 1))
    def test_one_message_each(self, project, paths, turn):
        with ExitStack() as block:
            for at, kind in enumerate(FILES, turn):
                damage = EVERY_DAMAGE[at % len(EVERY_DAMAGE)]
                block.enter_context(broken(paths[kind], "cut" if (kind, damage) in NOT_NEEDED else damage))
            results = run_dbt(["run"], expect_pass=False)
        assert len(results) == len(paths)
        files = {f"m_{name_of(kind)}": path for kind, path in paths.items()}
        for result in results:
            said, path = result.message, files[result.node.name]
            assert f"{path} (table default.{result.node.name[2:]}): " in said, said
            assert not [one for one in FOREIGN if one in said], said
