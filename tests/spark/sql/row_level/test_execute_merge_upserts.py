"""MERGE statements that are upserts: they read nothing of their target."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.files import live_paths
from support.spark_rows import in_order, rows

from tablestore_engine.errors import SqlError
from tablestore_engine.spark.dml import row_level

pytestmark = pytest.mark.spark

STAR = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
COLUMNS = (
    "WHEN MATCHED THEN UPDATE SET v = s.v, c = s.c"
    " WHEN NOT MATCHED THEN INSERT (id, part, v, c) VALUES (s.id, s.part, s.v, s.c)"
)
SOURCE = "(SELECT * FROM VALUES (2, 'a', 20, 'x'), (3, 'b', 30, 'y') AS s(id, part, v, c))"


@pytest.fixture
def target(store):
    store.execute(
        "CREATE TABLE t (id INT, part STRING, v BIGINT, c CHAR(3), PRIMARY KEY (id, part) NOT ENFORCED)"
        " PARTITIONED BY (part) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    store.execute("INSERT INTO t VALUES (1, 'a', 1, 'n'), (2, 'a', 2, 'n'), (2, 'b', 3, 'n')")
    return store


def run_without_files(store, statement):
    """The result of a statement that runs while no data file of table t is there."""
    moved = {path: path.read_bytes() for path in map(Path, live_paths(store.table("t")))}
    for path in moved:
        path.unlink()
    result = store.execute(statement)
    for path, content in moved.items():
        path.write_bytes(content)
    return result


@pytest.mark.parametrize("clauses", [STAR, COLUMNS])
def test_no_file_of_the_target_is_read(target, clauses):
    result = run_without_files(target, f"MERGE INTO t USING {SOURCE} s ON s.id = t.id AND t.part = s.part {clauses}")
    assert result.rows_affected == 2
    expected = [(1, "a", 1, "n  "), (2, "a", 20, "x  "), (2, "b", 3, "n  "), (3, "b", 30, "y  ")]
    assert rows(target) == in_order(expected)


def test_keys_that_bits_distinguish_are_equal_as_in_spark(store):
    """Zeros with and without a sign, NaN, booleans and bytes: matched as Spark's join does, without a look."""
    store.execute(
        "CREATE TABLE t (d DOUBLE, f FLOAT, b BOOLEAN, x BINARY, v INT, PRIMARY KEY (d, f, b, x) NOT ENFORCED)"
        " WITH ('bucket' = '3', 'write-only' = 'true')"
    )
    numbers = ["0.0", "-0.0", "1.5", "NaN", "-Infinity"]
    keys = [(d, f, b, x) for d in numbers for f in ("-0.0", "NaN", "2") for b in ("true", "false") for x in ("", "00")]

    def some(step, number):
        values = ", ".join(f"('{d}', '{f}', {b}, X'{x}', {number})" for d, f, b, x in keys[::-step] if d != "-0.0")
        values = values.replace("'0.0'", "'-0.0'") if step > 2 else values
        casts = "CAST(d AS DOUBLE) AS d, CAST(f AS FLOAT) AS f, b, x, v"
        return f"SELECT {casts} FROM VALUES {values} AS s(d, f, b, x, v)"

    store.execute(f"INSERT INTO t {some(2, 1)}")
    on = "t.d = s.d AND t.f = s.f AND t.b = s.b AND t.x = s.x"
    shown = "CAST(s.d AS STRING), CAST(s.f AS STRING), s.b, hex(s.x)"
    merged = store.spark.sql(
        f"SELECT struct({shown.replace('s.', 't.')}) AS k, t.v FROM ({some(2, 1)}) t LEFT ANTI JOIN ({some(3, 2)}) s"
        f" ON {on} UNION ALL SELECT struct({shown}) AS k, s.v FROM ({some(3, 2)}) s"
    ).collect()
    expected = sorted((str(tuple(k)).replace("-0.0", "0.0"), v) for k, v in merged)
    result = run_without_files(store, f"MERGE INTO t USING ({some(3, 2)}) s ON {on} {STAR}")
    assert result.rows_affected == sum(v == 2 for _, v in expected)
    read = store.sql(f"SELECT struct({shown.replace('s.', 't.')}) AS k, v FROM t").collect()
    assert sorted((str(tuple(k)), v) for k, v in read) == expected
    twice = f"{some(3, 2)} UNION ALL SELECT -d, f, b, x, v FROM ({some(3, 2)}) WHERE d = 0"
    with pytest.raises(SqlError, match="MERGE would write one key more than once"):
        store.execute(f"MERGE INTO t USING ({twice}) s ON {on} {STAR}")


def test_rows_that_others_insert_meanwhile_do_not_make_it_run_again(target, monkeypatch):
    write_files, calls = row_level.write_files, []

    def overtaken(*args, **kwargs):
        calls.append(args)
        target.execute("INSERT INTO t VALUES (1, 'a', 7, 'n')")
        return write_files(*args, **kwargs)

    monkeypatch.setattr(row_level, "write_files", overtaken)
    target.execute(f"MERGE INTO t USING {SOURCE} s ON s.id = t.id AND t.part = s.part {STAR}")
    assert len(calls) == 1
    assert {(row[0], row[1]): row[2] for row in rows(target)} == {
        (1, "a"): 7, (2, "a"): 20, (2, "b"): 3, (3, "b"): 30,
    }  # fmt: skip


def test_a_source_that_reads_the_target_runs_again(target, monkeypatch):
    write_files, others = row_level.write_files, ["UPDATE t SET v = 7 WHERE id = 1"]

    def overtaken(*args, **kwargs):
        for statement in [others.pop()] if others else []:
            target.execute(statement)
        return write_files(*args, **kwargs)

    monkeypatch.setattr(row_level, "write_files", overtaken)
    doubled = "(SELECT id, part, v * 2 AS v, c FROM t)"
    target.execute(f"MERGE INTO t USING {doubled} s ON s.id = t.id AND t.part = s.part {STAR}")
    assert {(row[0], row[1]): row[2] for row in rows(target)} == {(1, "a"): 14, (2, "a"): 4, (2, "b"): 6}


def test_two_source_rows_of_one_key_are_refused(target):
    before = rows(target)
    twice = "(SELECT * FROM VALUES (9, 'a', 20, 'x'), (9, 'a', 30, 'y') AS s(id, part, v, c))"
    with pytest.raises(SqlError, match="MERGE would write one key more than once"):
        target.execute(f"MERGE INTO t USING {twice} s ON s.id = t.id AND t.part = s.part {STAR}")
    assert rows(target) == before


@pytest.mark.parametrize(
    ("on", "clause", "expected"),
    [
        ("t.id = s.k", "WHEN MATCHED THEN UPDATE SET n = s.v", [(1, 5, 1)]),
        ("t.id = s.k + 1", "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k + 1, s.v)", [(1, 1, 1), (2, 5, None)]),
    ],
)
def test_two_source_rows_of_one_key_of_a_partial_update_are_refused(store, on, clause, expected):
    store.execute(
        "CREATE TABLE parts (id INT, n INT, m INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket' = '1', 'merge-engine' = 'partial-update')"
    )
    store.execute("INSERT INTO parts VALUES (1, 1, 1)")
    twice = "(SELECT * FROM VALUES (1, 5), (1, 6) AS s(k, v))"
    with pytest.raises(SqlError, match="MERGE would write one key more than once"):
        store.execute(f"MERGE INTO parts t USING {twice} s ON {on} {clause}")
    assert rows(store, "TABLE parts") == [(1, 1, 1)]
    store.execute(f"MERGE INTO parts t USING (SELECT 1 AS k, 5 AS v) s ON {on} {clause}")
    assert rows(store, "TABLE parts") == in_order(expected)
