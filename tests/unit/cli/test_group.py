"""The command line, as far as it needs no JVM."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from click.testing import CliRunner

from tablestore_engine.cli import exit_code, main
from tablestore_engine.errors import ConflictError, JavaNotFoundError, SqlError, StorageError
from tablestore_engine.spark.session.server_files import Record, ServerFolder


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
def test_errors_are_one_message(filled, arguments, code, message):
    run, _ = filled
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    if code == 1:
        assert len(result.stderr.splitlines()) == 1
        assert result.stderr.startswith("Error: ")


def test_the_warehouse_may_come_from_the_environment(filled, tmp_path, monkeypatch):
    monkeypatch.setenv("TABLESTORE_WAREHOUSE", str(tmp_path / "w"))
    assert CliRunner().invoke(main, ["tables"]).exit_code == 0
    monkeypatch.delenv("TABLESTORE_WAREHOUSE")
    missing = CliRunner().invoke(main, ["tables"])
    assert missing.exit_code == 2
    assert "TABLESTORE_WAREHOUSE" in missing.stderr


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


@pytest.mark.parametrize("minutes", ["0", "-5", "soon"])
def test_a_server_stays_for_some_minutes(minutes):
    refused = CliRunner().invoke(main, ["server", "start", "-w", "w", "--idle-minutes", minutes])
    assert (refused.exit_code, "'--idle-minutes'" in refused.output) == (2, True)


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
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    idle = ServerFolder.make(str(tmp_path / "cache" / "dbt-tablestore"), "kinds of later")
    idle.write_record(replace(record, pid=other.pid, warehouse="idle"))
    held = idle.try_life_lock()
    watcher = threading.Thread(target=lambda: (other.wait(60), os.close(held)))
    watcher.start()
    refused = CliRunner().invoke(main, ["server", "stop"])
    watcher.join()
    assert (refused.exit_code, "in use" in refused.output) == (1, True)
    assert "The Spark server of idle was stopped." in refused.output, "also when another one is in use"
    os.close(client)
    os.close(lock)
