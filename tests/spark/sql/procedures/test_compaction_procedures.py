"""CALL sys.compact, sys.schedule_compaction and sys.run_compaction as a user meets them."""

from __future__ import annotations

from datetime import date
from random import Random

import pytest
from support.files import data_files, kept_paths, live_paths
from support.invariants import check_invariants
from support.spark_rows import answers, rows
from support.tables import arrow_rows

from tablestore_engine.errors import ColumnNotFound, ConflictError, OptionError, SqlError
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.operation.transaction import transaction
from tablestore_engine.spark.compact import compactor, sort_compactor

pytestmark = pytest.mark.spark


@pytest.fixture
def call(store):
    return lambda sql: answers(store, f"CALL sys.{sql}")


@pytest.fixture
def keyed(store):
    """Three partitions of three runs each."""
    store.execute(
        "CREATE TABLE k (dt DATE, id INT, v INT, PRIMARY KEY (dt, id) NOT ENFORCED) PARTITIONED BY (dt)"
        " WITH ('bucket' = '2')"
    )
    table = store.table("k")
    for v in range(3):
        rows = [{"dt": date(2024, 1, 1 + n % 3), "id": n, "v": v} for n in range(60)]
        table.write(arrow_rows(table.schema, rows))
    return table


@pytest.fixture
def points(store):
    """An append table of two partitions with 40 × 40 points each, in no order, in six files each."""
    store.execute(
        "CREATE TABLE pts (x INT, y STRING, p STRING) PARTITIONED BY (p)"
        " WITH ('target-file-size' = '1 kb', 'write-only' = 'true')"
    )
    table = store.table("pts")
    found = [{"x": x, "y": f"{y:02}", "p": p} for p in "ab" for x in range(40) for y in range(40)]
    Random(1).shuffle(found)
    for n in range(6):
        table.write(arrow_rows(table.schema, found[n::6]))
    return table


def partitions(table):
    """Runs of each partition, over its buckets."""
    found = {}
    for entry in table.live_files():
        day = decode_row(entry.partition, [f.type for f in table.schema.partition_fields])[0]
        found[str(day)] = found.get(str(day), 0) + 1
    return dict(sorted(found.items()))


# -- CALL sys.compact ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "compacted"),
    [
        ("partitions => 'dt=2024-01-02'", [2]),
        ("partitions => 'dt=2024-01-01;dt=2024-01-03'", [1, 3]),
        ("where => \"dt > DATE'2024-01-01'\"", [2, 3]),
        ("where => \"day(dt) = 3 or dt = '2024-01-01'\"", [1, 3]),
        ("where => \"dt > DATE'2025-01-01'\"", []),
        ("partition_idle_time => '1 d'", []),
        ("partition_idle_time => '0 s', compact_strategy => 'full'", [1, 2, 3]),
        ("compact_strategy => 'minor'", []),
        ("strategy => 'minor', options => 'num-sorted-run.compaction-trigger=2'", [1, 2, 3]),
        ("where => '', order_strategy => 'none'", [1, 2, 3]),
    ],
)
def test_the_chosen_partitions_are_compacted(call, keyed, store, arguments, compacted):
    before = rows(store, "SELECT * FROM k")
    assert call(f"compact(table => 'k', {arguments})") == [(bool(compacted),)]
    assert partitions(keyed) == {f"2024-01-0{d}": 2 if d in compacted else 6 for d in (1, 2, 3)}
    assert rows(store, "SELECT * FROM k") == before
    assert store.table("k").schema.options == keyed.schema.options


def test_of_a_statement(keyed, store):
    store.execute("ALTER TABLE k PARTITION (dt = '2024-01-03') COMPACT")
    assert partitions(keyed) == {"2024-01-01": 6, "2024-01-02": 6, "2024-01-03": 2}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ("strategy => 'some'", SqlError, "full or minor"),
        ("strategy => 'full', compact_strategy => 'minor'", SqlError, "two names"),
        ("order_strategy => 'peano', order_by => 'v'", SqlError, "none, order, zorder or hilbert"),
        ("order_strategy => 'order', order_by => 'v'", SqlError, "primary key"),
        ("order_by => 'v'", SqlError, "needs an order_strategy"),
        ("partitions => 'dt=2024-01-02', where => 'dt is null'", SqlError, "partitions and where"),
        ("where => 'v = 1'", SqlError, "cannot choose partitions.*It may speak of dt"),
        ("where => 'dt ='", SqlError, "cannot choose partitions"),
        ("partition_idle_time => 'long'", SqlError, "partition_idle_time cannot be 'long'"),
        ("options => 'write-only'", SqlError, "not an option"),
        ("options => 'no-such=1'", OptionError, "no-such"),
        ("options => 'bucket=4'", OptionError, "belongs to the table"),
    ],
)
def test_wrong_arguments_of_compact_are_refused(call, keyed, arguments, error, message):
    before = keyed.latest_snapshot()
    with pytest.raises(error, match=message):
        call(f"compact(table => 'k', {arguments})")
    assert keyed.latest_snapshot() == before


# -- sort compaction -------------------------------------------------------------------------------------


def boxes(table, p):
    """Least and greatest x and y of each file of a partition."""
    types = [f.type for f in table.schema.fields]
    return [
        (decode_row(e.file.value_stats.min_values, types)[:2], decode_row(e.file.value_stats.max_values, types)[:2])
        for e in table.live_files()
        if decode_row(e.partition, [types[2]]) == (p,)
    ]


def mean_share(found, x, y):
    """The share of the points' x and y that a file covers, on average."""
    return [sum(int(high[i]) - int(low[i]) + 1 for low, high in found) / len(found) / 40 for i in (x, y)]


@pytest.mark.parametrize(
    ("strategy", "columns", "shares"),
    [
        ("order", "X, y", (0.2, 1)),
        pytest.param("order", "y", (1, 0.2), marks=pytest.mark.soak),
        ("zorder", "x,y", (0.6, 0.6)),
        pytest.param("hilbert", "x,y", (0.6, 0.6), marks=pytest.mark.soak),
    ],
)
def test_sorting_makes_statistics_narrow(call, points, store, strategy, columns, shares):
    before, files = rows(store, "SELECT * FROM pts"), len(points.live_files())
    assert min(mean_share(boxes(points, "a"), 0, 1)) > 0.9
    assert call(f"compact(table => 'pts', order_strategy => '{strategy}', order_by => '{columns}')") == [(True,)]
    snapshot = points.latest_snapshot()
    assert (snapshot.id, snapshot.commit_kind, snapshot.delta_record_count) == (7, "COMPACT", 0)
    assert rows(store, "SELECT * FROM pts") == before
    check_invariants(points)
    assert len(points.live_files()) >= files / 2
    for p in ("a", "b"):
        found = mean_share(boxes(points, p), 0, 1)
        assert found[0] <= shares[0]
        assert found[1] <= shares[1]
    assert {e.file.file_source for e in points.live_files()} == {1}


def test_sorting_one_partition(call, points, store):
    b = {path for path in live_paths(points) if "/p=b/" in path}
    call("compact(table => 'pts', partitions => 'p=a', order_strategy => 'zorder', order_by => 'x,y')")
    assert {path for path in live_paths(points) if "/p=b/" in path} == b
    assert call("compact(table => 'pts', where => \"p > 'b'\", order_strategy => 'order', order_by => 'x')") == [
        (False,)
    ]


def test_sorting_keeps_rows_in_their_buckets(call, store):
    store.execute("CREATE TABLE bp (x INT, y INT) WITH ('bucket' = '3', 'bucket-key' = 'y')")
    store.execute("INSERT INTO bp SELECT cast(hash(id) AS int), cast(id AS int) FROM range(300)")
    before = rows(store, "SELECT * FROM bp")
    call("compact(table => 'bp', order_strategy => 'order', order_by => 'x')")
    assert rows(store, "SELECT * FROM bp") == before
    assert store.sql("SELECT count(*) FROM bp WHERE y = 7").first()[0] == 1
    assert sorted(e.bucket for e in store.table("bp").live_files()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ("order_strategy => 'order'", SqlError, "needs columns"),
        ("order_strategy => 'order', order_by => 'z'", ColumnNotFound, "'z' does not exist"),
        ("order_strategy => 'zorder', order_by => 'x,y,X'", SqlError, "occurs twice"),
        ("order_strategy => 'order', order_by => 'x', strategy => 'minor'", SqlError, "full"),
        ("order_strategy => 'order', order_by => 'x', partition_idle_time => '1 d'", SqlError, "partition_idle_time"),
    ],
)
def test_impossible_orders_are_refused(call, points, arguments, error, message):
    with pytest.raises(error, match=message):
        call(f"compact(table => 'pts', {arguments})")
    assert len(points.snapshots()) == 6


@pytest.mark.parametrize("always", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_statement_that_takes_a_file_away_wins(call, points, store, monkeypatch, always):
    write, deleted = sort_compactor.write_arranged, []

    def overtaken(job, frame):
        result = write(job, frame)
        if always or not deleted:
            deleted.append(len(deleted))
            store.execute(f"DELETE FROM pts WHERE x = {len(deleted)}")
        return result

    monkeypatch.setattr(sort_compactor, "write_arranged", overtaken)
    monkeypatch.setattr(transaction, "ATTEMPTS", 3)
    statement = "compact(table => 'pts', order_strategy => 'order', order_by => 'x')"
    if always:
        with pytest.raises(ConflictError):
            call(statement)
    else:
        assert call(statement) == [(True,)]
    assert len(rows(store, "SELECT * FROM pts")) == 2 * (1600 - 40 * len(deleted))
    assert [s.commit_kind for s in points.snapshots()].count("COMPACT") == (0 if always else 1)
    assert data_files(points) == kept_paths(points)


# -- scheduled -------------------------------------------------------------------------------------------


def test_from_the_plan_to_its_snapshot(call, keyed, store, monkeypatch):
    monkeypatch.setattr(compactor, "LOCAL_BYTES", -1)  # in executors, one task for each bucket
    before = rows(store, "SELECT * FROM k")
    ((first, *rest),) = call("schedule_compaction(table => 'k', partitions => 'dt=2024-01-02')")
    assert rest == ["REQUESTED", 2, 6]
    ((second, *rest),) = call("schedule_compaction('k', NULL, 'full')")
    assert rest == ["REQUESTED", 4, 12]
    assert call("schedule_compaction('k')") == []
    assert call("run_compaction(table => 'k')") == [(first, "COMPLETED", 4, None)]
    store.execute("DELETE FROM k WHERE id % 3 = 0")
    assert call("run_compaction('k')") == [(second, "COMPLETED", 6, None)]
    assert call("run_compaction('k')") == []
    assert partitions(keyed)["2024-01-02"] == 2
    assert rows(store, "SELECT * FROM k") == [row for row in before if row[1] % 3]
    check_invariants(keyed)
    shown = store.sql(
        "SELECT instant, state, strategy, group_count, file_count, planned_on, attempts, snapshot_id, "
        "requested_time <= started_time, started_time <= finished_time, lease_until, message FROM k$compactions"
    ).collect()
    assert [tuple(row) for row in shown] == [
        (first, "COMPLETED", "minor", 2, 6, 3, 1, 4, True, True, None, None),
        (second, "COMPLETED", "full", 4, 12, 3, 1, 6, True, True, None, None),
    ]


def test_a_void_plan_says_why(call, keyed, store):
    call("schedule_compaction('k')")
    store.execute("TRUNCATE TABLE k")
    ((_, state, snapshot, message),) = call("run_compaction('k')")
    assert (state, snapshot) == ("CANCELLED", None)
    assert "no longer part of the table" in message
    assert store.sql("SELECT state, message FROM k$compactions").first()[1] == message


def test_every_so_many_statements_a_plan(call, store):
    store.execute(
        "CREATE TABLE s (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', "
        "'compaction.schedule.enabled' = 'true', 'compaction.delta-commits' = '3', "
        "'num-sorted-run.compaction-trigger' = '2')"
    )
    for v in range(4):
        store.execute(f"INSERT INTO s VALUES (1, {v})")
    assert {s.commit_kind for s in store.table("s").snapshots()} == {"APPEND"}
    assert [r[0] for r in store.sql("SELECT planned_on FROM s$compactions").collect()] == [3]
    assert call("run_compaction('s')")[0][1:3] == ("COMPLETED", 5)
    assert rows(store, "SELECT * FROM s") == [(1, 3)]


def test_bad_strategies_of_plans(call, keyed):
    with pytest.raises(SqlError, match="full or minor"):
        call("schedule_compaction(table => 'k', strategy => 'all')")
    assert keyed.state.timeline.load() == []


def test_sorting_keeps_the_buckets_of_each_partition(store):
    store.execute("CREATE TABLE t (p INT, a INT) PARTITIONED BY (p) WITH ('bucket' = '2', 'bucket-key' = 'a')")
    store.execute("INSERT INTO t SELECT cast(id % 2 AS INT), cast(1000 - id AS INT) FROM range(1000)")
    store.execute("ALTER TABLE t PARTITION (p = 1) CLUSTERED INTO 3 BUCKETS")
    store.execute("CALL sys.compact(table => 't', order_strategy => 'order', order_by => 'a')")
    table = store.table("t")
    check_invariants(table)
    buckets = {(e.partition, e.bucket, e.total_buckets) for e in table.live_files()}
    assert sorted(total for _, _, total in buckets) == [2, 2, 3, 3, 3]
    assert store.sql("SELECT count(*), sum(a) FROM t").collect() == [(1000, 500500)]
    assert store.sql("SELECT count(*) FROM t WHERE a = 7").collect() == [(1,)]
