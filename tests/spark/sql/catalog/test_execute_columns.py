"""Tables whose columns were changed, by SQL: every kind of table answers as if its rows had been written anew."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.spark_rows import in_order, rows

from tablestore_engine.errors import UserError

pytestmark = pytest.mark.spark

KINDS = {
    "append": "",
    "bucketed": "WITH ('bucket' = '2', 'bucket-key' = 'a')",
    "keyed": ", PRIMARY KEY (a) NOT ENFORCED",
    "multiset": "",
    "aggregation": ", PRIMARY KEY (a) NOT ENFORCED "
    "WITH ('merge-engine' = 'aggregation', 'fields.c.aggregate-function' = 'max')",
    "partial-update": ", PRIMARY KEY (a) NOT ENFORCED WITH ('merge-engine' = 'partial-update')",
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_the_design(store, kind):
    """A column that is dropped and added again is another one, before and after a compaction."""
    clause, _, options = KINDS[kind].partition("WITH")
    store.execute(f"CREATE TABLE T (a STRING, b STRING, c STRING{clause}) {'WITH' + options if options else ''}")
    store.execute("INSERT INTO T VALUES ('a1', 'b1', 'c1')")
    if kind == "multiset":
        store.execute("INSERT INTO T (_row_kind, a, b, c) VALUES ('+I', 'x', 'y', 'z'), ('+I', 'x', 'y', 'z')")
        store.execute("INSERT INTO T (_row_kind, a, b, c) VALUES ('-D', 'x', 'y', 'z')")
    store.execute("ALTER TABLE T DROP COLUMN c")
    store.execute("ALTER TABLE T ADD COLUMN c STRING")
    if kind == "multiset":
        store.execute("INSERT INTO T (_row_kind, a, b, c) VALUES ('-D', 'x', 'y', NULL)")
    store.execute("INSERT INTO T VALUES ('a2', 'b2', 'c2')")
    expected = [("a1", "b1", None), ("a2", "b2", "c2")]
    for _ in ("as written", "compacted"):
        assert rows(store, "SELECT * FROM T") == in_order(expected)
        assert rows(store, "SELECT a FROM T WHERE c IS NULL") == [("a1",)]
        assert rows(store, "SELECT a FROM T WHERE c = 'c1'") == []
        assert rows(store, "SELECT a FROM T WHERE c = 'c2'") == [("a2",)]
        assert [tuple(one.values()) for one in store.table("T").to_arrow().sort_by("a").to_pylist()] == expected
        check_invariants(store.table("T"))
        store.execute("ALTER TABLE T COMPACT")
    assert rows(store, "SELECT c FROM T VERSION AS OF 1") == [("c1",)]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_every_change_of_one_table(store, key):
    store.execute(
        "CREATE TABLE t (id INT, n INT, s STRUCT<x: INT, y: STRING>, l ARRAY<STRUCT<x: INT, y: STRING>>,"
        f" m MAP<STRING, STRUCT<x: INT>>{key})"
    )
    store.execute(
        "INSERT INTO t VALUES (1, 10, struct(1, 'a'), array(struct(1, 'a')), map('k', struct(1))),"
        " (2, 20, NULL, NULL, NULL)"
    )
    store.execute(
        "ALTER TABLE t ADD COLUMN s.z INT AFTER x, ADD COLUMN l.element.z INT FIRST, ADD COLUMN m.value.z INT,"
        " DROP COLUMN s.y, RENAME COLUMN l.element.y TO why, RENAME COLUMN n TO number,"
        " ALTER COLUMN number TYPE BIGINT, l.element.x TYPE BIGINT, id AFTER number"
    )
    store.execute(
        "INSERT INTO t (id, number, s, l, m) VALUES"
        " (3, 5000000000, struct(3, 33), array(struct(9, 5000000000, 'c')), map('k', struct(3, 4)))"
    )
    expected = [
        (10, 1, (1, None), [(None, 1, "a")], {"k": (1, None)}),
        (20, 2, None, None, None),
        (5000000000, 3, (3, 33), [(9, 5000000000, "c")], {"k": (3, 4)}),
    ]
    for _ in ("as written", "compacted"):
        found = store.sql("SELECT * FROM t ORDER BY id")
        assert found.columns == ["number", "id", "s", "l", "m"]
        assert list(map(repr, map(_plain, found.collect()))) == list(map(repr, expected))
        assert rows(store, "SELECT id FROM t WHERE number > 15") == [(2,), (3,)]
        assert rows(store, "SELECT id FROM t WHERE s.z IS NULL") == [(1,), (2,)]
        check_invariants(store.table("t"))
        store.execute("ALTER TABLE t COMPACT")
    store.execute("ALTER TABLE t REPLACE COLUMNS (extra STRING, id INT, number BIGINT)")
    assert rows(store, "SELECT * FROM t") == [(None, 1, 10), (None, 2, 20), (None, 3, 5000000000)]
    assert rows(store, "SELECT n, s.y FROM t VERSION AS OF 1") == in_order([(10, "a"), (20, None)])
    with pytest.raises(UserError, match="cannot be added as NOT NULL"):
        store.execute("ALTER TABLE t ADD COLUMN q INT NOT NULL, DROP COLUMN extra")
    assert store.table("t").schema.field_names == ("extra", "id", "number"), "all or nothing"


def _plain(value):
    """Rows as tuples, at any depth."""
    if isinstance(value, tuple):
        return tuple(_plain(one) for one in value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def test_partition_columns_of_new_rows(store):
    """Day → day and hour: rows stay in their folders, and every statement finds them."""
    store.execute("CREATE TABLE t (dt STRING, hr INT, v INT) PARTITIONED BY (dt)")
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('a', 2, 2), ('b', 1, 3), ('c', 1, 4)")
    store.execute("ALTER TABLE t ADD PARTITION FIELD hr")
    store.execute("INSERT INTO t VALUES ('a', 1, 5), ('a', 3, 6)")
    old, new = ["dt=a", "dt=b", "dt=c"], ["dt=a/hr=1", "dt=a/hr=3"]
    assert sorted(one[0] for one in store.sql("SHOW PARTITIONS t").collect()) == sorted([*old, *new])
    assert sorted(one[0] for one in store.sql("SELECT partition FROM t$partitions").collect()) == sorted([*old, *new])
    assert rows(store, "SELECT v FROM t WHERE hr = 1") == [(1,), (3,), (4,), (5,)]
    assert rows(store, "SELECT v FROM t WHERE dt = 'a' AND hr = 3") == [(6,)]
    assert rows(store, "SELECT v, __paimon_partition.hr FROM t WHERE dt = 'a'") == in_order(
        [(1, 1), (2, 2), (5, 1), (6, 3)]
    )
    for text in (
        "CALL sys.drop_partition('default.t', 'dt=a,hr=1')",
        "INSERT OVERWRITE t SELECT 'b', 1, 9",
    ):
        with pytest.raises(UserError, match="before 'hr' became a partition column"):
            store.execute(text)
    assert rows(store, "SELECT v FROM t") == [(n,) for n in range(1, 7)]
    whole = "/*+ OPTIONS('dynamic-partition-overwrite' = 'false') */"
    store.execute(f"INSERT OVERWRITE t {whole} PARTITION (dt = 'b') VALUES (7, 30), (8, 31)")
    store.execute("INSERT OVERWRITE t PARTITION (dt = 'a', hr = 1) VALUES (9)")
    assert rows(store, "SELECT v FROM t WHERE dt = 'a'") == [(2,), (6,), (9,)]
    store.execute("INSERT INTO t VALUES ('c', 5, 50), ('c', 6, 60)")
    store.execute("ALTER TABLE t DROP PARTITION (dt = 'a', hr = 1), PARTITION (dt = 'c', hr = 6)")
    store.execute("TRUNCATE TABLE t PARTITION (dt = 'c', hr = 5)")
    store.execute("UPDATE t SET v = v * 10 WHERE hr = 2")
    store.execute("ALTER TABLE t COMPACT")
    expected = [("a", 2, 20), ("a", 3, 6), ("b", 7, 30), ("b", 8, 31), ("c", 1, 4)]
    assert rows(store, "SELECT * FROM t") == expected
    store.execute("ALTER TABLE t DROP PARTITION (dt = 'c'), PARTITION (dt = 'a', hr = 3)")
    assert rows(store, "SELECT * FROM t") == [expected[0], *expected[2:4]]
    check_invariants(store.table("t"))
    store.execute("ALTER TABLE t DROP PARTITION FIELD hr, RENAME COLUMN hr TO hour")
    store.execute("INSERT OVERWRITE t SELECT 'b', 1, 40")
    assert rows(store, "SELECT * FROM t") == [("a", 2, 20), ("b", 1, 40)], "all of day b was replaced"
    check_invariants(store.table("t"))
    with pytest.raises(UserError, match="partition columns were changed"):
        store.execute("INSERT INTO t (_row_kind, dt, hour, v) VALUES ('-D', 'a', 2, 20)")
    store.execute("ALTER TABLE t DROP PARTITION FIELD dt, ADD PARTITION FIELD hour")
    store.execute("INSERT INTO t VALUES ('c', 1, 70), ('c', 2, 80)")
    assert rows(store, "SELECT v FROM t WHERE hour = 1") == [(40,), (70,)]
    assert rows(store, "SELECT v FROM t WHERE dt = 'c' AND hour = 2") == [(80,)]
    with pytest.raises(UserError, match="before 'hour' became a partition column"):
        store.execute("INSERT OVERWRITE t SELECT 'x', 1, 0")
    store.execute("INSERT OVERWRITE t PARTITION (hour = 1) SELECT 'd', 90")
    store.execute("CALL sys.compact(table => 't')")
    assert rows(store, "SELECT * FROM t") == [("a", 2, 20), ("c", 2, 80), ("d", 1, 90)]
    check_invariants(store.table("t"))
    store.execute("ALTER TABLE t DROP PARTITION (hour = 2)")
    assert rows(store, "SELECT * FROM t") == [("d", 1, 90)]
