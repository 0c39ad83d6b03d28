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


@pytest.mark.parametrize("clauses", [STAR, COLUMNS])
def test_no_file_of_the_target_is_read(target, clauses):
    moved = {path: path.read_bytes() for path in map(Path, live_paths(target.table("t")))}
    for path in moved:
        path.unlink()
    result = target.execute(f"MERGE INTO t USING {SOURCE} s ON s.id = t.id AND t.part = s.part {clauses}")
    for path, content in moved.items():
        path.write_bytes(content)
    assert result.rows_affected == 2
    expected = [(1, "a", 1, "n  "), (2, "a", 20, "x  "), (2, "b", 3, "n  "), (3, "b", 30, "y  ")]
    assert rows(target) == in_order(expected)


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
