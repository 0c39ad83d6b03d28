"""`tablestore compact`: what is due in one table or in a whole warehouse, one line of output for each. Needs no JVM."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.files import live_paths
from support.tables import by_key, keyed_table, no_spark, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.cli import main
from tablestore_engine.operation.compact.schedule_compaction import schedule


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.session.session.start_session", no_spark)
    return lambda *arguments: CliRunner().invoke(main, ["compact", "-w", str(tmp_path), *arguments])


@pytest.fixture
def tables(tmp_path):
    """Three tables of three runs each: one with a plan, one with a low trigger, one at rest."""
    catalog = Catalog(tmp_path)
    found = {}
    for name, trigger in (("planned", "5"), ("due", "3"), ("rest", "5")):
        options = {"bucket": "1", "num-sorted-run.compaction-trigger": trigger, "write-only": "true"}
        found[name] = keyed_table(catalog, options, name=name)
        for v in range(3):
            write(found[name], [{"id": n, "v": v} for n in range(10)])
    return found


def runs(tables):
    return {name: len(table.live_files()) for name, table in tables.items()}


def test_all_tables(run, tables):
    plan = schedule(tables["planned"].state, "full", 1)
    result = run("--all")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "default.due      compacted as snapshot 4",
        f"default.planned  plan {plan.instant} completed as snapshot 4",
        "default.rest     nothing was due",
    ]
    assert runs(tables) == {"planned": 1, "due": 1, "rest": 3}
    assert by_key(tables["due"])[1]["v"] == 2
    again = run("--all")
    assert again.stdout.count("nothing was due") == 3


def test_one_table_and_fully(run, tables):
    assert run("rest").stdout.splitlines() == ["default.rest  nothing was due"]
    assert run("default.rest", "--full").stdout.splitlines() == ["default.rest  compacted as snapshot 4"]
    assert runs(tables) == {"planned": 3, "due": 3, "rest": 1}
    assert run("--all", "--full").exit_code == 0
    assert set(runs(tables).values()) == {1}


def test_a_table_that_fails_does_not_stop_the_others(run, tables):
    schedule(tables["planned"].state, "full", 1)
    with open(max(live_paths(tables["due"])), "r+b") as file:
        file.truncate(50)
    result = run("--all", "--full")
    assert result.exit_code == 3
    due, planned, rest = result.stdout.splitlines()
    assert due.startswith("default.due      FAILED: Damaged data file")
    assert "completed as snapshot 4" in planned
    assert "compacted as snapshot 4" in rest


def test_a_compaction_that_lost_may_be_tried_again(run, tables, monkeypatch):
    from tablestore_engine.errors import ConflictError

    def lose(*arguments, **more):
        raise ConflictError("Others keep winning.")

    monkeypatch.setattr("tablestore_engine.spark.compact.compact_due.compact_table", lose)
    result = run("due")
    assert (result.exit_code, result.stdout) == (75, "default.due  FAILED: Others keep winning.\n")


@pytest.mark.parametrize("arguments", [[], ["--all", "due"], ["--full"]])
def test_the_tables_must_be_named(run, tables, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "--all" in result.stderr
    assert set(runs(tables).values()) == {3}


def test_an_empty_warehouse_has_nothing_to_do(run, tmp_path):
    result = run("--all")
    assert (result.exit_code, result.stdout) == (0, "")
