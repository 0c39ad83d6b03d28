"""Rows that retractions hide, found once: by row position or by hash, with the same answers."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from unittest import mock

import pytest
from support.spark_rows import plan_of

from tablestore_engine.errors import NegativeCountError
from tablestore_engine.operation.scan import discriminating_columns
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.spark.read import multiset_reader
from tablestore_engine.spark.read import multiset_retracted_rows as retracted_rows
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

COLUMNS = "id INT, big BIGINT, price DECIMAL(12, 2), day DATE, name STRING, x DOUBLE, tags ARRAY<INT>"
NAMES = "id, big, price, day, name, x, tags"
ROWS = (
    "SELECT {part} p, cast(id % 97 AS INT) id, id % 89 * 1000003 big, cast(id % 83 / 8 AS DECIMAL(12, 2)) price,"
    " if(id % 5 = 0, NULL, date_add(date'2024-01-01', cast(id % 79 AS INT))) day, concat('n', id % 3) name,"
    " if(id % 4 = 0, double('NaN'), id % 2) x, if(id % 7 = 0, NULL, array(cast(id % 2 AS INT), NULL)) tags"
    " FROM range({start}, {end})"
)
EACH_PLAN = {
    "by hash": [(retracted_rows, "HELD_ROWS", -1)],
    "by hash of few columns": [
        (retracted_rows, "HELD_ROWS", -1),
        (discriminating_columns, "ENOUGH_BITS", 1.0),
    ],
    "by hash, shuffled": [(retracted_rows, "HELD_ROWS", -1), (multiset_reader, "BROADCAST_ROWS", -1)],
    "by position": [],
    "by position, after few columns": [(discriminating_columns, "ENOUGH_BITS", 1.0)],
}


def found_by(plan, warehouse, spark, queries):
    """The rows of each query, as a process that knows nothing yet reads them in turn."""
    with ExitStack() as patched:
        patched.enter_context(mock.patch.object(retracted_rows, "_known", RecentlyUsed(10_000, retracted_rows._size)))
        for one in EACH_PLAN[plan]:
            patched.enter_context(mock.patch.object(*one))
        fresh = TableStore(warehouse, new_session(spark))
        return {query: Counter(map(repr, map(tuple, fresh.sql(query).collect()))) for query in queries}


@pytest.mark.spark
def test_every_plan_gives_the_same_rows(store, spark, tmp_path):
    store.execute(
        f"CREATE TABLE t (p INT, {COLUMNS}) PARTITIONED BY (p)"
        " WITH ('merge-engine' = 'tablestore-count', 'write-only' = 'true')"
    )
    # The same rows twice make files of one size, and rows of which one copy is hidden.
    for part, start, end in [(1, 0, 300), (1, 0, 300), (1, 200, 400), (2, 0, 50), (3, 0, 50)]:
        store.execute(f"INSERT INTO t {ROWS.format(part=part, start=start, end=end)}")
    for part, start, end in [(1, 10, 30), (1, 20, 40), (1, 390, 400), (2, 0, 50)]:
        retractions = ROWS.format(part=part, start=start, end=end)
        store.execute(f"INSERT INTO t (_row_kind, p, {NAMES}) SELECT '-D', * FROM ({retractions})")
    table = store.table("t")
    sizes = [e.file.file_size for e in table.live_files() if not e.file.delete_row_count]
    assert len(set(sizes)) < len(sizes), "only paths distinguish files"
    last = table.latest_snapshot().id
    queries = {
        "SELECT * FROM t WHERE id = 25": None,
        "SELECT big, x FROM t WHERE day < date'2024-01-20'": None,
        "SELECT * FROM t": 800,
        "SELECT * FROM t WHERE p = 2": 0,
        f"SELECT * FROM t VERSION AS OF {last - 1}": 850,
        "SELECT count(*), count(day), sum(price) FROM t": 1,
    }
    # The first plan answers each query. Each other one answers one of the four that do not read the whole table.
    few = [query for query in queries if query not in ("SELECT * FROM t WHERE id = 25", "SELECT * FROM t")]
    expected = None
    for number, plan in enumerate(EACH_PLAN):
        left = {*few[: number - 1], *few[number:]} if number else ()
        rows = found_by(plan, tmp_path / "warehouse", spark, [query for query in queries if query not in left])
        expected = expected or rows
        for query, found in rows.items():
            assert found == expected[query], f"{plan}: {query}"
            assert queries[query] is None or sum(found.values()) == queries[query], query
    store.execute("ALTER TABLE t COMPACT")
    assert Counter(map(repr, map(tuple, store.sql("SELECT * FROM t").collect()))) == expected["SELECT * FROM t"]


@pytest.mark.spark
def test_known_retracted_rows_are_not_looked_for_again(store, spark, tmp_path, capsys):
    store.execute(
        "CREATE TABLE t (id INT, day DATE, v STRING) WITH ('merge-engine' = 'tablestore-count', 'write-only' = 'true')"
    )
    store.execute("INSERT INTO t SELECT cast(id AS INT), date'2024-01-01', 'x' FROM range(100)")
    store.execute("INSERT INTO t SELECT cast(id * 3 AS INT), date'2024-01-01', 'y' FROM range(100)")
    store.execute("DELETE FROM t WHERE v = 'y' AND id IN (30, 60)")
    real, looked = retracted_rows.collect_arrow, []

    def collect_arrow(frame):
        looked.append(frame)
        return real(frame)

    with mock.patch.object(retracted_rows, "collect_arrow", collect_arrow):
        few = plan_of(store, "SELECT v FROM t WHERE id = 30", capsys)
        assert "xxhash64" in few, "a query after few rows looks for these"
        assert not looked
        whole = plan_of(store, "SELECT sum(id) FROM t", capsys)
        assert looked
        assert "row_index" in whole
        assert "xxhash64" not in whole
        assert "day" not in whole, "columns that nobody asks for are not read"
        looked.clear()
        assert store.sql("SELECT count(*), sum(id) FROM t").collect() == [(198, 99 * 50 + 99 * 150 - 90)]
        assert store.sql("SELECT v FROM t WHERE id = 30").collect() == [("x",)]
        other = TableStore(tmp_path / "warehouse", new_session(spark))
        assert "xxhash64" not in plan_of(other, "SELECT v FROM t WHERE id = 60", capsys)
        assert not looked
        store.execute("INSERT INTO t VALUES (30, date'2024-01-01', 'y')")
        assert store.sql("SELECT count(*) FROM t").collect() == [(199,)]
        assert looked, "files have changed"


@pytest.mark.spark
def test_too_many_candidates_are_matched_by_hash(store, capsys, monkeypatch):
    monkeypatch.setattr(retracted_rows, "_SPARE_CANDIDATES", 5)
    store.execute("CREATE TABLE t (id INT, v STRING)")
    store.execute("INSERT INTO t SELECT cast(id % 2 AS INT), 'x' FROM range(40)")
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('-D', 1, 'x')")
    assert "xxhash64" in plan_of(store, "SELECT sum(id) FROM t", capsys), "twenty copies, of which one goes"
    assert store.sql("SELECT count(*), sum(id) FROM t").collect() == [(39, 19)]


@pytest.mark.spark
def test_missing_rows_are_reported_to_queries_that_read_all_rows(store):
    store.execute("CREATE TABLE t (id INT, v STRING)")
    store.execute("INSERT INTO t SELECT cast(id AS INT), 'x' FROM range(10)")
    store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('-D', 5, 'x'), ('-D', 5, 'x'), ('-D', 6, 'x')")
    for _ in range(2):
        with pytest.raises(NegativeCountError, match=r", in table \S+ \(total -1\): \{'id': 5, 'v': 'x'\}"):
            store.sql("SELECT sum(id) FROM t").collect()
        assert store.sql("SELECT count(*) FROM t WHERE id = 7").collect() == [(1,)]
