"""Deletion vectors through Spark: every query, time travel, system tables; and that nothing writes."""

from __future__ import annotations

import pytest
from support.deletion_vectors import delete_positions, with_options
from support.spark_rows import ids_of

from tablestore_engine.errors import OptionError

VECTORS = {"deletion-vectors.enabled": "true"}


@pytest.fixture
def table(store):
    """A table without a key in two partitions; of the first file of each, rows are deleted."""
    store.sql(
        "CREATE TABLE t (p STRING, `a b` BIGINT, v STRING) PARTITIONED BY (p) "
        # Spark returns the names of files in the encoding of URIs.
        "TBLPROPERTIES ('data-file.prefix' = 'ä, b%41+(~')"
    )
    for start in (0, 100):
        store.sql(f"INSERT INTO t SELECT concat('p ', id % 2), id, concat('v', id) FROM range({start}, {start + 100})")
    made = with_options(store.catalog, store.table("t"), VECTORS)
    # Row n of a file of the first write is the number 2 n, or 2 n + 1.
    first = sorted(made.live_files(), key=lambda e: (e.file.min_sequence_number, e.partition))
    names = [e.file.file_name for e in first if e.file.row_count == 50][:2]
    delete_positions(made, {names[0]: [0, 10, *range(20, 30)], names[1]: [49]}, wide=False)
    return made


def test_queries(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    assert len(own) == 200 - 13
    assert ids_of(store, "SELECT `a b` FROM t") == own
    assert ids_of(store, "SELECT count(*) FROM t") == [len(own)]
    assert ids_of(store, "SELECT `a b` FROM t WHERE `a b` > 40 AND v < 'v9'") == [
        i for i in own if i > 40 and f"v{i}" < "v9"
    ]
    assert ids_of(store, "SELECT `a b` FROM t WHERE p = 'p 1'") == [i for i in own if i % 2]
    assert ids_of(store, "SELECT `a b` FROM t VERSION AS OF 2") == list(range(200))
    assert ids_of(store, "SELECT sum(record_count) FROM `t$partitions`") == [len(own)]


def test_columns_of_today(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    store.sql("ALTER TABLE t ADD COLUMN more INT")
    assert ids_of(store, "SELECT `a b` FROM t WHERE more IS NULL") == own


def test_the_vectors_are_joined_and_columns_pruned(store, table):
    plan = store.sql("SELECT sum(`a b`) FROM t")._jdf.queryExecution().executedPlan().toString()
    assert "BroadcastHashJoin" in plan
    assert "LeftAnti" in plan
    assert "v:" not in plan.split("ReadSchema")[1].split(">")[0]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES ('p 0', 1, 'x')",
        "INSERT OVERWRITE t SELECT * FROM t",
        "UPDATE t SET v = 'x' WHERE `a b` = 5",
        "DELETE FROM t WHERE `a b` = 5",
        "ALTER TABLE t COMPACT",
        "CALL sys.compact(table => 't', order_strategy => 'order', order_by => 'v')",
        "CALL sys.schedule_compaction(table => 't', strategy => 'full')",
        "CALL sys.rollback(table => 't', version => '1')",
    ],
)
def test_nothing_is_written(store, table, statement):
    before = table.latest_snapshot()
    with pytest.raises(OptionError, match=r"'deletion-vectors.enabled' = 'true' is not supported"):
        store.sql(statement)
    assert table.latest_snapshot() == before


def test_statements_without_new_files_work(store, table):
    own = sorted(table.to_arrow().column("a b").to_pylist())
    store.sql("ALTER TABLE t DROP PARTITION (p = 'p 0')")
    assert ids_of(store, "SELECT `a b` FROM t") == [i for i in own if i % 2]
    store.sql("ANALYZE TABLE t COMPUTE STATISTICS")
    store.sql("TRUNCATE TABLE t")
    assert ids_of(store, "SELECT `a b` FROM t") == []
    assert store.catalog.load_table("default", "t").index_files() == []
