"""`tablestore tables`, `describe` and `snapshots`, which need no JVM."""

from __future__ import annotations

from support.tables import keyed_table, write

from tablestore_engine.catalog import Catalog


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


def test_looking_makes_no_warehouse(run, tmp_path):
    result = run("tables", warehouse=tmp_path / "nowhere")
    assert result.exit_code == 1
    assert "no warehouse" in result.stderr
    assert "TABLESTORE_WAREHOUSE" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_describe_says_each_thing_once(run, tmp_path):
    run("sql", "create table t (id int comment 'key', v string default 'x', primary key (id)) with ('bucket' = '2')")
    lines = [line.split() for line in run("describe", "t").stdout.splitlines() if line.strip()]
    assert lines[0] == ["column", "type", "comment", "default"]
    assert [line for line in lines if line[0] in ("id", "v")] == [["id", "int", "key"], ["v", "string", "'x'"]]
    details = {line[0]: line[1:] for line in lines[4:]}
    assert (details["bucket"], details["bucket-key"]) == (["2"], ["id"])
    assert details["Location"] == [str(tmp_path / "w" / "default.db" / "t")]
    assert sum(str(tmp_path) in " ".join(line) for line in lines) == 1
    assert not {"name", "file.path", "log.system", "#"} & {line[0] for line in lines}


def test_snapshots_fit_a_terminal(run, tmp_path):
    table = keyed_table(Catalog(tmp_path / "w"), {"bucket": "1"}, name="t")
    for v in range(3):
        write(table, [{"id": n, "v": v} for n in range(10)])
    lines = run("snapshots", "--limit", "2", "t").stdout.splitlines()
    assert max(map(len, lines)) <= 100, lines
    assert [line.split()[0] for line in lines if line.strip()][2:4] == ["3", "2"]
    assert lines[-1] == "2 rows, and more (--limit sets how many are shown)"
