"""A model that reads or writes a damaged table fails with one message: which table, which file, what to do."""

from __future__ import annotations

import re
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt
from support.damaged import EVERY_DAMAGE, FILES, NOT_NEEDED, STATEMENTS, broken, make_tables
from support.dbt_models import table_of
from support.files import live_paths
from support.soak import cover

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


EVERY_CELL = [(kind, damage) for kind in FILES for damage in EVERY_DAMAGE if (kind, damage) not in NOT_NEEDED]
CELLS = [EVERY_CELL[number] for number in cover(EVERY_CELL)]


def name_of(kind, damage):
    return re.sub(r"\W+", "_", f"{damage} {kind}")


def model_of(kind, damage):
    """A query, or a statement before one."""
    statement = STATEMENTS[kind].format(f"default.{name_of(kind, damage)}")
    hook = "" if statement.startswith("select") else f', pre_hook="{statement}"'
    return f'{{{{ config(materialized="table"{hook}) }}}} {"select 1 as n" if hook else statement}'


class TestEveryKindOfFile:
    """One model for each kind of file, of which each damage occurs, with a table of its own, in one run.

    Every damage of each kind is in `tests/unit/test_table_damaged.py`.
    """

    @pytest.fixture(scope="class")
    def models(self):
        return {f"m_{name_of(*cell)}.sql": model_of(*cell) for cell in CELLS}

    @pytest.fixture(scope="class")
    def paths(self, project):
        """The file that is broken for each model."""
        catalog, paths = project.adapter.catalog, {}
        make_tables(catalog)
        for kind, damage in CELLS:
            made, path_of = FILES[kind]
            table, name = Path(catalog.load_table("default", made).path), name_of(kind, damage)
            shutil.copytree(table, table.with_name(name))
            paths[f"m_{name}"] = path_of(catalog.load_table("default", name))
        return paths

    def test_one_message_each(self, project, paths):
        with ExitStack() as block:
            for kind, damage in CELLS:
                block.enter_context(broken(paths[f"m_{name_of(kind, damage)}"], damage))
            results = run_dbt(["run"], expect_pass=False)
        assert len(results) == len(CELLS)
        for result in results:
            said, path = result.message, paths[result.node.name]
            assert f"{path} (table default.{result.node.name[2:]}): " in said, said
            assert not [one for one in FOREIGN if one in said], said
