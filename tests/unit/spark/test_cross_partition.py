"""Keys that cross partitions: where a key goes that comes with another partition, by merge engine."""

from __future__ import annotations

import pytest
from engine_support import check_invariants

from tablestore_engine.errors import DuplicateKeyError, OptionError, UserError
from tablestore_engine.spark import dml

pytestmark = pytest.mark.spark

TABLE = """
    CREATE TABLE t (dt STRING, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)
    WITH ('bucket' = '-1', 'dynamic-bucket.target-row-num' = '10'{})
"""

# The other tests write in this process.
THROUGH_TASKS = pytest.mark.parametrize("path", ["distributed"], indirect=True)


def rows(store):
    return sorted((tuple(row) for row in store.sql("SELECT id, dt, v FROM t").collect()), key=repr)


@THROUGH_TASKS
def test_a_key_moves(store, path):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t SELECT 'a', cast(id AS INT), 1 FROM range(30)")
    table = store.table("t")
    assert {e.bucket for e in table.live_files()} == {0, 1, 2}
    assert table.index_files() == []
    state = dict.fromkeys(range(30), ("a", 1))

    def check():
        assert rows(store) == sorted(((i, *one) for i, one in state.items()), key=repr)
        check_invariants(table)

    check()
    # Some stay, some move, some are new; one comes twice, and its last row counts.
    new = "SELECT * FROM VALUES ('a', 1, 2), ('b', 2, 2), ('b', 3, 2), ('a', 3, 3), (NULL, 4, 2), ('b', 99, 2) AS x(dt, id, v)"
    store.spark.sql(new).coalesce(1).createOrReplaceTempView("x")
    store.execute("INSERT INTO t SELECT * FROM x")
    state |= {1: ("a", 2), 2: ("b", 2), 3: ("a", 3), 4: (None, 2), 99: ("b", 2)}
    check()
    # There and back again: old records of a key lie in several partitions now.
    for dt in ("b", "a"):
        store.execute(f"INSERT INTO t SELECT '{dt}', cast(id AS INT), 7 FROM range(10, 20)")
        state |= dict.fromkeys(range(10, 20), (dt, 7))
    check()
    store.execute("ALTER TABLE t COMPACT")
    check()
    store.execute("UPDATE t SET dt = 'c' WHERE id < 3")
    store.execute("DELETE FROM t WHERE id IN (3, 15)")
    state |= {i: ("c", state[i][1]) for i in range(3)}
    state = {i: one for i, one in state.items() if i not in (3, 15)}
    check()
    store.execute(
        "INSERT INTO t (_row_kind, dt, id, v) VALUES ('-D', 'elsewhere', 20, 0), ('-D', 'c', 777, 0)"
    )
    del state[20]
    check()
    store.execute("ALTER TABLE t SET TBLPROPERTIES ('dynamic-partition-overwrite' = 'false')")
    store.execute("INSERT OVERWRITE t VALUES ('z', 1, 1), ('y', 1, 2)")
    state = {1: ("y", 2)}
    check()


@THROUGH_TASKS
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (", 'merge-engine' = 'partial-update'", [(1, "a", 5), (2, "b", 2), (3, "b", 4)]),
        (", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'",
         [(1, "a", 6), (2, "b", 4), (3, "b", 7)]),
        (", 'merge-engine' = 'first-row'", [(1, "a", 1), (2, "b", 2), (3, "b", 3)]),
    ],
    ids=["partial-update", "aggregation", "first-row"],
)  # fmt: skip
def test_other_merge_engines_keep_the_old_partition(store, path, options, expected):
    store.execute(TABLE.format(options))
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('b', 2, 2)")
    store.spark.sql(
        "SELECT * FROM VALUES ('z', 1, 5), ('b', 2, 2), ('b', 3, 3), ('z', 3, 4) AS x(dt, id, v)"
    ).coalesce(1).createOrReplaceTempView("x")
    store.execute("INSERT INTO t SELECT * FROM x")
    assert rows(store) == expected
    check_invariants(store.table("t"))
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store) == expected


@pytest.mark.parametrize(
    ("options", "kind", "once", "twice"),
    [
        ("'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'product'", "-U", 3, 15),
        (
            (
                "'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum',"
                " 'aggregation.remove-record-on-delete' = 'true'"
            ),
            "-U",
            4,
            9,
        ),
        ("'merge-engine' = 'partial-update', 'fields.n.sequence-group' = 'v'", "-D", None, 5),
    ],
    ids=["stored retractions", "removals", "sequence group"],
)
def test_a_retraction_leaves_a_key_at_home(store, options, kind, once, twice):
    store.execute(
        "CREATE TABLE t (dt INT, id INT, v INT, n INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)"
        f" WITH ('bucket' = '-1', {options})"
    )
    store.execute("INSERT INTO t VALUES (7, 1, 6, 0)")
    store.execute(f"INSERT INTO t (_row_kind, dt, id, v, n) VALUES ('{kind}', 7, 1, 2, 1)")
    assert rows(store) == [(1, 7, once)]
    store.execute("INSERT INTO t VALUES (8, 1, 5, 2)")
    assert rows(store) == [(1, 7, twice)]
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store) == [(1, 7, twice)]
    check_invariants(store.table("t"))


def test_a_retraction_of_a_key_that_is_nowhere(store):
    """It is a run by itself, with nothing above it."""
    store.execute(
        "CREATE TABLE t (dt INT, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)"
        " WITH ('bucket' = '-1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'product')"
    )
    store.execute("INSERT INTO t VALUES (7, 1, 6)")
    store.execute("INSERT INTO t (_row_kind, dt, id, v) VALUES ('-U', 7, 2, 2)")
    assert rows(store) == [(1, 7, 6), (2, 7, None)]
    assert sorted(row["id"] for row in store.table("t").to_arrow().to_pylist()) == [1, 2]
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store) == [(1, 7, 6), (2, 7, None)]


def test_a_partition_column_is_no_value(store):
    options = "'bucket' = '-1', 'merge-engine' = 'aggregation', 'fields.default-aggregate-function' = 'sum'"
    columns = "(dt INT, id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt)"
    store.execute(f"CREATE TABLE t {columns} WITH ({options})")
    store.execute("INSERT INTO t VALUES (7, 1, 1)")
    store.execute("INSERT INTO t VALUES (7, 1, 1)")
    assert rows(store) == [(1, 7, 2)]
    with pytest.raises(OptionError, match="'dt' says the partition"):
        store.execute(f"CREATE TABLE u {columns} WITH ({options}, 'fields.dt.aggregate-function' = 'max')")


def test_the_newest_records_of_keys_that_move(store):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('a', 2, 1)")
    store.execute("INSERT INTO t VALUES ('b', 1, 2)")
    found = store.sql("SELECT rowkind, dt, id FROM t$audit_log").collect()
    assert sorted(map(tuple, found)) == [("+I", "a", 2), ("+I", "b", 1), ("-D", "a", 1)]


def test_created_as_select(store):
    store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('bucket' = '-1') "
        "AS SELECT * FROM VALUES ('a', 1, 1), ('b', 2, 1) AS x(dt, id, v)"
    )
    assert rows(store) == [(1, "a", 1), (2, "b", 1)]
    with pytest.raises(DuplicateKeyError, match="id=1"):
        store.execute("INSERT INTO t VALUES ('c', 1, 1), ('d', 1, 2)", refuse_duplicates=True)
    with pytest.raises(UserError, match="Single partitions"):
        store.execute("INSERT OVERWRITE t PARTITION (dt = 'a') VALUES (2, 2)")
    assert rows(store) == [(1, "a", 1), (2, "b", 1)]


def test_a_write_in_between_conflicts(store, monkeypatch):
    store.execute(TABLE.format(""))
    store.execute("INSERT INTO t VALUES ('a', 1, 1)")
    finish, runs = dml.finish, []

    def late(*args, **kwargs):
        runs.append(kwargs["read_snapshot"])
        if len(runs) == 1:
            store.execute("INSERT INTO t VALUES ('b', 1, 2)")
        return finish(*args, **kwargs)

    monkeypatch.setattr(dml, "finish", late)
    store.execute("INSERT INTO t VALUES ('c', 1, 3)")
    assert runs == [1, 1, 2], "the one in between, and then once more"
    assert rows(store) == [(1, "c", 3)]
