"""`tablestore sql`, as far as it needs no JVM: where statements come from, and which of them begin a warehouse."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tablestore_engine.cli import main
from tablestore_engine.errors import ParseError

MADE = "create schema s; create table s.t (id int)"


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


def test_limit(filled):
    run, _ = filled
    output = run("sql", "--limit", "1", "show schemas").output
    assert output.splitlines()[-1] == "1 row, and more (--limit sets how many are shown)"


def test_a_file_of_statements_is_answered_in_turn(run, tmp_path):
    file = tmp_path / "all.sql"
    file.write_text(f"-- what there is\n{MADE};\n\nshow tables in s;\n", encoding="utf-8")
    result = run("sql", "-f", str(file))
    assert result.exit_code == 0, result.output
    assert [line.split() for line in result.stdout.splitlines() if line.strip()][:2] == [
        ["CREATE", "SCHEMA"], ["CREATE", "TABLE"]]  # fmt: skip
    assert "1 row" in result.stdout
    assert run("sql", "--file", "-", input="show tables in s").stdout.endswith("1 row\n")


@pytest.mark.parametrize("given", [["show tables", "-f", "-"], [], ["-f", "nowhere.sql"]])
def test_statements_come_from_one_source(run, given):
    assert run("sql", *given, input="").exit_code == 2


def test_of_several_statements_the_failing_one_is_named(filled):
    run, _ = filled
    result = run("sql", "-", input="show schemas;\n\nshow tables in nope;\nshow schemas")
    assert result.exit_code == 1
    assert "Error: Statement 2 of 3 (line 3): Schema 'nope'" in result.stderr
    assert "Statement" not in run("sql", "show tables in nope").stderr


def test_the_mark_of_a_parse_error_stays_below_its_word(filled, monkeypatch):
    message = "[PARSE_SYNTAX_ERROR] Syntax error.\n\n== SQL (line 1, column 8) ==\nselect  from t\n        ^"

    def fail(*arguments, **named):
        raise ParseError(message, hint="Look there.")

    monkeypatch.setattr("tablestore_engine.store.TableStore.execute", fail)
    lines = filled[0]("sql", "select  from t").stderr.splitlines()
    assert lines[0] == "Error: [PARSE_SYNTAX_ERROR] Syntax error."
    assert lines[1:] == ["== SQL (line 1, column 8) ==", "select  from t", "        ^", "Look there."]


@pytest.mark.parametrize(
    "text",
    ["select 1", "insert into s.t values (1)", "create or replace temporary view v as select 1; select * from v"],
)
def test_a_warehouse_is_not_begun_by_reading(run, tmp_path, text):
    missing = tmp_path / "typo"
    result = run("sql", text, warehouse=missing)
    assert result.exit_code == 1
    for part in (f"There is no warehouse at {missing}.", "-w", "TABLESTORE_WAREHOUSE", "CREATE", "dbt run"):
        assert part in result.stderr
    assert not missing.exists()


def test_a_new_warehouse_is_announced(run, tmp_path):
    said = f"This began a new warehouse in {tmp_path / 'w'}.\n"
    assert run("sql", MADE).stderr == said
    assert run("sql", "create table s.u (id int)").stderr == ""


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "statements.sql"
    file.write_bytes(b"SELECT 1; \xff")
    done = CliRunner().invoke(main, ["sql", "-w", str(tmp_path), "-f", str(file)])
    assert done.exit_code != 0
    assert "it is no UTF-8 text at byte 11" in done.stderr
    assert "codec" not in done.stderr
