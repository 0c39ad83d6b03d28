"""A command line whose statements never start Spark."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from support.tables import no_spark

from tablestore_engine.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.delenv("TABLESTORE_WAREHOUSE", raising=False)
    monkeypatch.setattr("tablestore_engine.spark.session.session.start_session", no_spark)

    def call(*arguments, warehouse=tmp_path / "w", input=None):
        command, *rest = arguments
        return CliRunner().invoke(main, [command, "-w", str(warehouse), *rest], input=input)

    return call


@pytest.fixture
def filled(run):
    text = "create schema s; create table s.t (id bigint comment 'key', v string, primary key (id)); show tables in s"
    result = run("sql", text)
    assert result.exit_code == 0, result.output
    return run, result.stdout
