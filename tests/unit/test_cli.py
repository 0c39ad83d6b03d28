"""The command line, as far as it needs no JVM."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from support.tables import no_spark

from tablestore_engine.cli import exit_code, main
from tablestore_engine.errors import ConflictError, JavaNotFoundError, SqlError, StorageError
from tablestore_engine.spark.session.server_files import Record, ServerFolder


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
    return run, result.output


def test_sql_shows_what_happened(filled):
    _, output = filled
    lines = [line.split() for line in output.splitlines() if line.strip()]
    assert lines[:3] == [["CREATE", "SCHEMA"], ["CREATE", "TABLE"], ["namespace", "tableName", "isTemporary"]]
    assert ["s", "t", "false"] in lines
    assert lines[-1] == ["1", "row"]


def test_sql_from_standard_input_and_in_a_schema(filled):
    run, _ = filled
    result = run("sql", "-s", "s", "-", input="-- a comment;\ndescribe t;\n;show current schema")
    assert result.exit_code == 0, result.output
    assert "bigint" in result.output
    assert "tablestore" in result.output


def test_tables_describe_snapshots(filled):
    run, _ = filled
    listed = run("tables", "s")
    assert ["s", "t", "table", "id", "0", "0", "0", "0"] in [line.split() for line in listed.output.splitlines()]
    assert run("tables").output == listed.output
    shown = run("describe", "s.t").output
    assert run("describe", "-s", "s", "T").output == shown
    assert "Primary Key" in shown
    assert "key" in shown
    found = run("snapshots", "s.t")
    assert (found.exit_code, found.output.splitlines()[-1]) == (0, "0 rows")


def test_limit(filled):
    run, _ = filled
    output = run("sql", "--limit", "1", "show schemas").output
    assert output.splitlines()[-1] == "1 row, and more"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["sql", "drop table nope"], 1, "default.nope"),
        (["sql", "create table t (a int,)"], 1, "line 1"),
        (["sql", "-s", "nope", "show tables"], 1, "There are: default, s"),
        (["tables", "nope"], 1, "There are: default, s"),
        (["describe", "s.tt"], 1, "Did you mean 't'?"),
        (["snapshots", "s.tt"], 1, "Did you mean 't'?"),
        (["compact", "s.tt"], 1, "Did you mean 't'?"),
        (["describe"], 2, "TABLE"),
    ],
)
def test_errors_are_one_line(filled, arguments, code, message):
    run, _ = filled
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    if code == 1:
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith("Error: ")


def test_looking_makes_no_warehouse(run, tmp_path):
    result = run("tables", warehouse=tmp_path / "nowhere")
    assert result.exit_code == 1
    assert "no warehouse" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_the_warehouse_may_come_from_the_environment(filled, tmp_path, monkeypatch):
    monkeypatch.setenv("TABLESTORE_WAREHOUSE", str(tmp_path / "w"))
    assert CliRunner().invoke(main, ["tables"]).exit_code == 0
    monkeypatch.delenv("TABLESTORE_WAREHOUSE")
    assert CliRunner().invoke(main, ["tables"]).exit_code == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SqlError("x"), 1),
        (StorageError("/x", "full"), 3),
        (JavaNotFoundError("x"), 3),
        (ConflictError("x"), 75),
    ],
)
def test_exit_codes(error, code):
    assert exit_code(error) == code


def test_debug_shows_the_error_itself(filled, tmp_path):
    result = CliRunner().invoke(main, ["--debug", "describe", "-w", str(tmp_path / "w"), "s.nope"])
    assert type(result.exception).__name__ == "TableNotFound"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ZeroDivisionError("by zero"), 3, "Error: ZeroDivisionError: by zero. This is not foreseen"),
        (SqlError("No."), 1, "Error: No."),
        (KeyboardInterrupt(), 130, "Error: Interrupted."),
    ],
)
def test_no_error_is_a_traceback(filled, monkeypatch, error, code, said):
    def fail(*arguments, **named):
        raise error

    monkeypatch.setattr("tablestore_engine.store.TableStore.execute", fail)
    result = filled[0]("sql", "select 1")
    assert (result.exit_code, len(result.stderr.splitlines())) == (code, 1)
    assert result.stderr.startswith(said)


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from tablestore_engine.cli import main; main(['--help'], standalone_mode=False); "
        "print([one for one in ('pyspark', 'pyarrow', 'pandas', 'numpy', 'rich') if one in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_one_table_that_cannot_be_read_hides_no_other(filled, tmp_path):
    """Other tools may have made it, with types that are not known here."""
    run, _ = filled
    schema = tmp_path / "w" / "s.db" / "odd" / "schema" / "schema-0"
    schema.parent.mkdir(parents=True)
    text = (tmp_path / "w" / "s.db" / "t" / "schema" / "schema-0").read_text()
    schema.write_text(text.replace('"STRING"', '"BLOB"'))
    listed = run("tables", "s")
    assert listed.exit_code == 0
    assert [row[1] for row in map(str.split, listed.stdout.splitlines()) if row[:1] == ["s"]] == ["odd", "t"]
    assert "s.odd" in listed.stderr
    assert "BLOB" in listed.stderr
    shown = run("sql", "show table extended in s like '*'")
    assert shown.exit_code == 0, shown.output
    assert "BLOB" in shown.output
    assert "Provider: tablestore" in shown.output
    dropped = run("sql", "drop table s.odd; show tables in s")
    assert dropped.exit_code == 0, dropped.output
    assert "odd" not in dropped.output


def test_servers_are_listed_and_stopped(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert CliRunner().invoke(main, ["server", "stop"]).output == "No Spark server runs.\n"
    folder = ServerFolder.make(str(tmp_path / "cache" / "dbt-tablestore"), "kind")
    record = Record(
        pid=1, port=2, token="secret", warehouse=str(tmp_path / "w"), version="1", code="c", started=0,
        idle_seconds=90, log="/log",
    )  # fmt: skip
    folder.write_record(record)
    assert "0 rows" in CliRunner().invoke(main, ["server", "status"]).output, "a record without a process"
    lock, client = folder.try_life_lock(), folder.share_use_lock()
    shown = CliRunner().invoke(main, ["server", "status", "-w", str(tmp_path / "w")]).output
    assert "in use" in shown
    assert "1.5" in shown
    assert "secret" not in shown
    assert "0 rows" in CliRunner().invoke(main, ["server", "status", "-w", str(tmp_path)]).output
    refused = CliRunner().invoke(main, ["server", "stop"])
    assert (refused.exit_code, "in use" in refused.output) == (1, True)
    os.close(client)
    os.close(lock)
