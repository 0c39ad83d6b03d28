"""Reads are Spark's own scans: what the physical plan says, and which files it opens."""

from __future__ import annotations

import contextlib
import io
import os
import re

import pytest
from support.tables import new_job, write

pytestmark = pytest.mark.spark


def plan_of(frame):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        frame.explain("formatted")
    return out.getvalue()


def scans(frame):
    """(columns read, filters pushed) of each Parquet scan."""
    text = plan_of(frame)
    found = []
    for part in text.split("Scan parquet")[1:]:
        schema = re.search(r"ReadSchema: struct<(.*)>", part)
        if schema is None:  # the tree at the top, which names the scans only
            continue
        pushed = re.search(r"PushedFilters: \[(.*)\]", part)
        found.append(({c.split(":")[0] for c in schema[1].split(",") if c}, pushed[1] if pushed else ""))
    return found


@pytest.fixture
def orders(store):
    store.execute(
        "CREATE TABLE orders (day DATE, id INT, v INT, note STRING, PRIMARY KEY (day, id) NOT ENFORCED)"
        " PARTITIONED BY (day) WITH ('bucket' = '4')"
    )
    store.execute(
        "INSERT INTO orders SELECT date_add(DATE'2024-01-01', d), i, i, concat('n', i)"
        " FROM (SELECT explode(sequence(0, 1)) d) CROSS JOIN (SELECT explode(sequence(0, 99)) i)"
    )
    return store


def test_one_run_is_one_plain_scan(orders):
    frame = orders.sql("SELECT sum(v) FROM orders WHERE note = 'n5' AND v > 3")
    text = plan_of(frame)
    ((columns, filters),) = scans(frame)
    assert columns == {"v", "note"}
    assert "EqualTo(note,n5)" in filters
    assert "GreaterThan(v,3)" in filters
    assert "Join" not in text
    for python in ("Python", "ArrowEval", "MapInArrow", "BatchEval"):
        assert python not in text
    assert frame.collect()[0][0] == 10


@pytest.mark.parametrize(
    ("where", "files", "rows"),
    [
        ("true", 8, 200),
        ("day = DATE'2024-01-02'", 4, 100),
        ("day = '2024-01-02'", 4, 100),
        ("day > '2024-01-01' AND id = 7", 1, 1),
        ("id IN (7, 8) AND day = '2024-01-01'", None, 2),
        ("id = 7", 2, 2),
        ("id > 1000", 0, 0),
        ("v = 1000", 0, 0),
        ("day = '2030-01-01'", 0, 0),
    ],
)
def test_files_are_pruned_before_spark_plans(orders, where, files, rows):
    frame = orders.sql(f"SELECT * FROM orders WHERE {where}")
    if files is not None:
        assert len(frame.inputFiles()) == files
    assert frame.count() == rows


def test_an_upsert_keeps_pruning_and_pushing(orders):
    orders.execute("INSERT INTO orders VALUES (DATE'2024-01-01', 7, -7, 'changed')")
    frame = orders.sql("SELECT id, v FROM orders WHERE v < 3")
    text = plan_of(frame)
    assert "Python" not in text
    assert "Join" not in text
    assert len(scans(frame)) == 2, "of the bucket that changed, and of the others"
    for columns, filters in scans(frame):
        assert "note" not in columns
        assert "LessThan(v,3)" in filters
    found = sorted(map(tuple, frame.collect()))
    assert found == sorted([(0, 0), (1, 1), (2, 2), (0, 0), (1, 1), (2, 2), (7, -7)])


def test_a_point_query_with_fresh_files_needs_no_join(orders):
    orders.execute("INSERT INTO orders VALUES (DATE'2024-01-01', 7, -7, 'changed'), (DATE'2024-01-01', 300, 0, 'new')")
    where = "SELECT id, v, note FROM orders WHERE day = '2024-01-01' AND"
    for condition, expected in (
        ("id = 7", [(7, -7, "changed")]),
        ("id = 8", [(8, 8, "n8")]),
        ("id = 300", [(300, 0, "new")]),
        ("id = 301", []),
        ("id IN (7, 8, 300) AND v < 100", [(7, -7, "changed"), (8, 8, "n8"), (300, 0, "new")]),
        ("id <= 7 AND v > 4", [(5, 5, "n5"), (6, 6, "n6")]),
        ("id = 7 AND note = 'n7'", []),
    ):
        frame = orders.sql(f"{where} {condition}")
        assert "Join" not in plan_of(frame), condition
        assert sorted(map(tuple, frame.collect())) == expected, condition
    orders.execute("DELETE FROM orders WHERE id = 7")
    assert orders.sql(f"{where} id = 7").collect() == []
    orders.execute("INSERT INTO orders VALUES (DATE'2024-01-01', 7, 70, 'again')")
    frame = orders.sql(f"{where} id = 7")
    assert "Join" not in plan_of(frame)
    assert list(map(tuple, frame.collect())) == [(7, 70, "again")]
    assert "getbit" in plan_of(orders.sql("SELECT * FROM orders WHERE v = 70")), "values say nothing of keys"


@pytest.fixture
def joins(monkeypatch):
    """As where files have too many rows to compute here which of them are superseded."""
    monkeypatch.setattr("tablestore_engine.operation.read.superseded_rows.MOST_ROWS", 0)


@pytest.mark.usefixtures("joins")
def test_an_upsert_of_many_rows_keeps_pruning_and_pushing(orders):
    orders.execute("INSERT INTO orders VALUES (DATE'2024-01-01', 7, -7, 'changed')")
    frame = orders.sql("SELECT id, v FROM orders WHERE v < 3")
    text = plan_of(frame)
    assert "Python" not in text
    assert "BroadcastHashJoin" in text
    bottom = [filters for columns, filters in scans(frame) if "v" in columns and "_VALUE_KIND" not in columns]
    assert any("LessThan(v,3)" in filters for filters in bottom), "filters reach the big run below the join"
    found = sorted(map(tuple, frame.collect()))
    assert found == sorted([(0, 0), (1, 1), (2, 2), (0, 0), (1, 1), (2, 2), (7, -7)])


@pytest.mark.usefixtures("joins")
def test_keys_of_several_numbers_are_joined_as_one(store):
    store.execute(
        "CREATE TABLE wide (a BIGINT, b INT, `c{}` SMALLINT, v INT, PRIMARY KEY (a, b, `c{}`) NOT ENFORCED)"
        " WITH ('bucket' = '2', 'bucket-key' = 'a')"
    )
    rows = "SELECT id % 7 - 3, id % 5 - 9000000, id % 3, id FROM range(105)"
    store.execute(f"INSERT INTO wide {rows}")
    store.execute("INSERT INTO wide SELECT a, b, `c{}`, -1 FROM wide WHERE v % 10 = 0")
    store.execute("INSERT INTO wide VALUES (9223372036854775807, 0, 0, 5)")
    frame = store.sql("SELECT count(*), sum(v), count(DISTINCT a, b, `c{}`) FROM wide")
    assert tuple(frame.collect()[0]) == (106, sum(i for i in range(105) if i % 10) - 11 + 5, 106)
    assert "c{}" in plan_of(frame).split("BroadcastHashJoin")[-1], "a range this wide is no number of 63 bits"
    store.execute("DELETE FROM wide WHERE a > 1000")
    store.execute("ALTER TABLE wide COMPACT")
    store.execute("INSERT INTO wide SELECT a, b, `c{}`, -2 FROM wide WHERE v % 10 = 1")
    frame = store.sql("SELECT sum(v), count(*) FROM wide")
    keys = re.search(r"Left keys \[(\d)\]", plan_of(frame))
    assert keys is not None
    assert keys[1] == "1"
    kept = [i for i in range(105) if i % 10 not in (0, 1)]
    assert tuple(frame.collect()[0]) == (sum(kept) - 11 - 22, 105)


def test_merging_many_runs_equals_the_naive_answer(orders):
    expected = {(d, i): (i, f"n{i}") for d in ("2024-01-01", "2024-01-02") for i in range(100)}
    for n in range(3):
        orders.execute(
            f"INSERT INTO orders SELECT DATE'2024-01-01', i, {n}, 'u{n}' FROM (SELECT explode(sequence({n}, 20)) i)"
        )
        expected |= {("2024-01-01", i): (n, f"u{n}") for i in range(n, 21)}
    orders.execute("DELETE FROM orders WHERE id BETWEEN 10 AND 12")
    expected = {k: v for k, v in expected.items() if not 10 <= k[1] <= 12}
    rows = orders.sql("SELECT cast(day AS string), id, v, note FROM orders").collect()
    assert {(r[0], r[1]): (r[2], r[3]) for r in rows} == expected
    assert len(rows) == len(expected)
    orders.execute("CALL sys.compact(table => 'orders')")
    rows = orders.sql("SELECT cast(day AS string), id, v, note FROM orders").collect()
    assert {(r[0], r[1]): (r[2], r[3]) for r in rows} == expected
    assert len(orders.sql("SELECT * FROM orders").inputFiles()) == 8


def test_many_runs_are_read_column_by_column(orders):
    expected = {(d, i): i for d in ("2024-01-01", "2024-01-02") for i in range(100)}
    for n in range(3):
        orders.execute(f"INSERT INTO orders SELECT DATE'2024-01-01', id + {10 * n}, -{n} - 1, 'x' FROM range(20)")
        expected |= {("2024-01-01", i + 10 * n): -n - 1 for i in range(20)}
    orders.execute("DELETE FROM orders WHERE id IN (5, 15, 25, 95)")
    expected = {k: v for k, v in expected.items() if k[1] not in (5, 15, 25, 95)}
    orders.execute("INSERT INTO orders VALUES (DATE'2024-01-01', 15, 1000, 'again')")
    expected["2024-01-01", 15] = 1000
    frame = orders.sql("SELECT cast(day AS string), id, v FROM orders")
    rows = frame.collect()
    assert len(rows) == len(expected)
    assert {(r[0], r[1]): r[2] for r in rows} == expected
    assert "max_by" not in plan_of(frame)
    assert all("note" not in columns for columns, _ in scans(frame))


@pytest.mark.parametrize("joined", [False, True])
def test_writers_that_took_the_same_number_leave_one_row(store, request, joined):
    if joined:
        request.getfixturevalue("joins")
    store.execute("CREATE TABLE raced (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    store.execute("INSERT INTO raced SELECT id, 0 FROM range(100)")
    table = store.table("raced")
    jobs = [new_job(table) for _ in range(2)]
    assert jobs[0].sequence_number == jobs[1].sequence_number
    for value, job in enumerate(jobs, 1):
        write(table, [{"id": 7, "v": value}, {"id": 8 + value, "v": value}], job=job)
    frame = store.sql("SELECT * FROM raced")
    assert ("max_by" in plan_of(frame)) == joined
    found = {row.id: row.v for row in frame.collect()}
    assert (len(found), frame.count()) == (100, 100)
    assert found[7] in (1, 2)
    assert (found[9], found[10]) == (1, 2)


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_sequence_fields_decide_in_spark_as_without_it(store, order):
    store.execute(
        "CREATE TABLE s (id INT, at INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ('sequence.field' = 'at', 'sequence.field.sort-order' = '{order}')"
    )
    for values in (
        "(1, 5, 'a'), (2, NULL, 'b'), (3, 1, 'c')",
        "(1, 3, 'd'), (2, 1, 'e')",
        "(1, 5, 'f'), (3, NULL, 'g')",
    ):
        store.execute(f"INSERT INTO s VALUES {values}")
    without = {r["id"]: r["v"] for r in store.table("s").to_arrow().to_pylist()}
    assert {r[0]: r[1] for r in store.sql("SELECT id, v FROM s").collect()} == without
    expected = {1: "f", 2: "e", 3: "c"} if order == "ascending" else {1: "d", 2: "e", 3: "c"}
    assert without == expected
    store.execute("ALTER TABLE s COMPACT")
    assert {r[0]: r[1] for r in store.sql("SELECT id, v FROM s").collect()} == expected


def test_time_travel(orders):
    orders.execute("UPDATE orders SET v = -1 WHERE id = 1")
    orders.execute("ALTER TABLE orders ADD COLUMN extra INT")
    orders.execute("INSERT INTO orders VALUES (DATE'2024-01-03', 1, 1, 'x', 5)")

    def total(clause=""):
        return orders.sql(f"SELECT sum(v), count(*) FROM orders {clause}").collect()[0]

    assert tuple(total("VERSION AS OF 1")) == (9900, 200)
    assert tuple(total("VERSION AS OF 2")) == (9896, 200)
    assert tuple(total()) == (9897, 201)
    first = orders.table("orders").snapshot(1)
    at = f"timestamp_millis({first.time_millis})"
    assert tuple(total(f"TIMESTAMP AS OF {at}")) == (9900, 200)
    assert "extra" not in orders.sql("SELECT * FROM orders VERSION AS OF 1").columns
    from tablestore_engine.errors import SnapshotNotFound

    with pytest.raises(SnapshotNotFound, match="1 to 3"):
        orders.sql("SELECT * FROM orders VERSION AS OF 99")
    with pytest.raises(SnapshotNotFound, match="oldest"):
        orders.sql("SELECT * FROM orders TIMESTAMP AS OF '2001-01-01'")


def test_a_frame_stays_on_its_snapshot(orders):
    frame = orders.sql("SELECT count(*) FROM orders")
    orders.execute("DELETE FROM orders WHERE id < 50")
    assert frame.collect()[0][0] == 200
    assert orders.sql("SELECT count(*) FROM orders").collect()[0][0] == 100


def test_one_statement_reads_one_snapshot(orders):
    frame = orders.sql("SELECT (SELECT count(*) FROM orders) - (SELECT count(*) FROM default.orders)")
    assert frame.collect()[0][0] == 0


def test_paths_with_odd_characters(spark, tmp_path):
    from tablestore_engine.spark.session.session import new_session
    from tablestore_engine.store import TableStore

    store = TableStore(os.path.join(tmp_path, "a b%20{ü}[x]*"), new_session(spark))
    store.execute("CREATE TABLE t (p STRING, v INT) PARTITIONED BY (p)")
    store.execute("INSERT INTO t VALUES ('a/b c%41?', 1), ('ü*{}[]', 2), (NULL, 3), ('', 4)")
    assert sorted(r[0] for r in store.sql("SELECT v FROM t").collect()) == [1, 2, 3, 4]
    assert store.sql("SELECT v FROM t WHERE p = 'a/b c%41?'").collect()[0][0] == 1
    store.execute("DELETE FROM t WHERE p = 'ü*{}[]'")
    assert sorted(r[0] for r in store.sql("SELECT v FROM t").collect()) == [1, 3, 4]


@pytest.mark.usefixtures("joins")
@pytest.mark.parametrize(
    ("first", "second", "extra"),
    [
        pytest.param("id * 37 - 40000", "cast(id % 3 as int)", "", marks=pytest.mark.soak),
        pytest.param("id % 2", "cast(id * 37 - 40000 as int)", "", marks=pytest.mark.soak),
        ("id * 37 - 40000", "cast(id % 3 as int)", ", 'sequence.field' = 's'"),
    ],
    ids=["first column", "all columns", "sequence field"],
)
def test_rows_of_a_large_run_are_looked_up_by_block(store, monkeypatch, first, second, extra):
    """Two runs of changes over a run that counts as large: same answer as Spark's own join on plain rows."""
    monkeypatch.setattr("tablestore_engine.spark.read.merge_on_read.WORTH_ROWS", 1)
    key = f"{first} AS a, {second} AS b"
    rows = f"SELECT {key}, 0 AS s, 'old' AS v FROM range(2000)"
    store.execute(
        "CREATE TABLE large (PRIMARY KEY (a, b) NOT ENFORCED)"
        f" WITH ('bucket' = '2', 'write-only' = 'true'{extra}) AS {rows}"
    )
    # The second batch is older by its sequence field; without one, it wins.
    store.execute(f"INSERT INTO large SELECT {key}, 9, 'first' FROM range(0, 2200, 50)")
    store.execute(f"INSERT INTO large SELECT {key}, 5, 'second' FROM range(0, 2200, 110)")
    frame = store.sql("SELECT count(*), count_if(v = 'old'), count_if(v = 'first'), sum(a), sum(b) FROM large")
    assert "shiftright" in plan_of(frame)
    keys = store.sql(f"SELECT sum(a), sum(b) FROM (SELECT {key} FROM range(2200) WHERE id < 2000 OR id % 50 = 0 OR id % 110 = 0)")  # fmt: skip  # noqa: E501
    both, firsts, seconds = 4, 44, 20  # multiples of 550, of 50, of 110 below 2,200
    new = len({*range(2000, 2200, 50), *range(2090, 2200, 110)})
    won = firsts if extra else firsts - both
    assert frame.first()[:3] == (2000 + new, 2000 + new - (firsts + seconds - both), won)
    assert frame.first()[3:] == tuple(keys.first())
    # The keys that a filter leaves are read for it, and serve for the blocks.
    filtered = store.sql(
        "SELECT count(*), count_if(v = 'old'), count_if(v = 'first'), sum(a), sum(b) FROM large WHERE a > -50000"
    )
    assert "shiftright" in plan_of(filtered)
    assert filtered.first() == frame.first()
