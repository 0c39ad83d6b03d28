"""Tables without a key that take retractions, through SQL."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.files import holds_retractions
from support.multiset_tables import check
from support.spark_rows import in_order, plan_of, rows

from tablestore_engine.errors import (
    NegativeCountError,
    OptionError,
    RowKindError,
    SqlError,
)

pytestmark = [pytest.mark.spark, pytest.mark.cover("path")]


def test_the_changelog_of_a_left_join_needs_no_key(store, path):
    """Orders come before their customers, customers change; the join's retractions have no key of their own."""
    store.execute("CREATE TABLE joined (item STRING, customer STRING)")
    store.execute("INSERT INTO joined VALUES ('apple', NULL), ('apple', NULL), ('pear', NULL), ('fig', 'ada')")
    table = store.table("joined")
    assert not table.schema.merge_engine.rules.is_multiset
    # The customer of an apple and of the pear becomes known.
    store.execute(
        "INSERT INTO joined (_row_kind, item, customer) VALUES ('-D', 'apple', NULL), ('+I', 'apple', 'ben'),"
        " ('-U', 'pear', NULL), ('+U', 'pear', 'ada')"
    )
    assert rows(store, "SELECT * FROM joined") == [("apple", "ben"), ("apple", None), ("fig", "ada"), ("pear", "ada")]
    assert check(store, "joined").schema.merge_engine.rules.is_multiset
    # ada goes: her rows lose their customer.
    store.execute(
        "INSERT INTO joined (_row_kind, item, customer) SELECT k, item, if(k = '-D', customer, NULL) FROM joined"
        " LATERAL VIEW explode(array('-D', '+I')) AS k WHERE customer = 'ada'"
    )
    expected = [("apple", "ben"), ("apple", None), ("fig", None), ("pear", None)]
    assert rows(store, "SELECT * FROM joined") == expected
    store.execute("ALTER TABLE joined COMPACT")
    assert rows(store, "SELECT * FROM joined") == expected
    assert not holds_retractions(check(store, "joined"))
    assert rows(store, "SELECT count(*) FROM joined VERSION AS OF 1") == [(4,)]
    assert rows(store, "SELECT count(customer) FROM joined VERSION AS OF 2") == [(3,)]


TYPES = (
    "i INT, s STRING, b BINARY, d DECIMAL(20, 2), x DOUBLE, y FLOAT, dt DATE, ts TIMESTAMP, n TIMESTAMP_NTZ, "
    "o BOOLEAN, l ARRAY<INT>, r STRUCT<a: DOUBLE, b: ARRAY<STRING>>"
)
ALL_TYPES = (
    "SELECT 1, 'a', X'00FF', 1.50BD, {zero}, cast({zero} as float), date'2024-01-01', "
    "timestamp'1969-12-31 23:59:59.999999', timestamp_ntz'2024-01-01 00:00:00', true, array(1, null), "
    "named_struct('a', {nan}, 'b', array('x', null))"
)


def test_rows_of_all_types_meet(store, path):
    nulls = f"SELECT {', '.join(['NULL'] * 12)}"
    plus = ALL_TYPES.format(zero="0.0D", nan="double('NaN')")
    minus = ALL_TYPES.format(zero="-0.0D", nan="-double('NaN')")
    store.execute(f"CREATE TABLE t ({TYPES})")
    store.execute(f"INSERT INTO t {plus} UNION ALL {nulls} UNION ALL {plus} UNION ALL {nulls}")
    names = "i, s, b, d, x, y, dt, ts, n, o, l, r"
    removed = f"SELECT '-D' AS _row_kind, * FROM ({minus} UNION ALL {nulls}) AS v({names})"
    store.execute(f"INSERT INTO t {removed}")
    assert check(store, values=False).statistics().row_count == 2
    assert rows(store, "SELECT i, l FROM t") == [(1, [1, None]), (None, None)]
    store.execute(f"INSERT INTO t {removed}")
    assert rows(store) == []
    store.execute("ALTER TABLE t COMPACT")
    assert store.table("t").live_files() == []
    store.execute(f"INSERT INTO t {minus}")
    assert rows(store, "SELECT count(*) FROM t") == [(1,)]


def test_partitions_buckets_and_queries_that_skip_files(store, path, capsys):
    store.execute(
        "CREATE TABLE t (p STRING, id INT, v STRING) PARTITIONED BY (p)"
        " WITH ('bucket' = '2', 'bucket-key' = 'id', 'compaction.min.file-num' = '100')"
    )
    for part in "ab":
        store.execute(f"INSERT INTO t SELECT '{part}', cast(id % 10 AS INT), 'x' FROM range(40)")
    store.execute("INSERT INTO t SELECT '-D' AS _row_kind, 'a' AS p, cast(id AS INT) AS id, 'x' AS v FROM range(5)")
    store.execute("INSERT INTO t SELECT 'a', cast(id + 100 AS INT), 'y' FROM range(3)")
    check(store)
    expected = {("a", i): 3 if i < 5 else 4 for i in range(10)} | {("b", i): 4 for i in range(10)}
    expected |= {("a", i): 1 for i in (100, 101, 102)}
    answer = {(p, i): n for p, i, n in rows(store, "SELECT p, id, count(*) FROM t GROUP BY p, id")}
    assert answer == expected
    for (part, i), n in expected.items():
        if i in (0, 4, 7, 101):
            assert rows(store, f"SELECT count(*) FROM t WHERE p = '{part}' AND id = {i}") == [(n,)]
    assert rows(store, "SELECT sum(id) FROM t WHERE id > 50") == [(303,)]
    assert "row_index" in plan_of(store, "SELECT sum(id) FROM t", capsys)
    untouched = plan_of(store, "SELECT sum(id) FROM t WHERE p = 'b'", capsys)
    assert "row_index" not in untouched, "a partition without retractions is a plain scan"
    store.execute("ALTER TABLE t COMPACT")
    assert not holds_retractions(check(store))
    assert {(p, i): n for p, i, n in rows(store, "SELECT p, id, count(*) FROM t GROUP BY p, id")} == expected


def test_many_copies_of_a_row(store):
    store.execute("CREATE TABLE t (v STRING)")
    store.execute("INSERT INTO t SELECT 'x' FROM range(150000)")
    store.execute("INSERT INTO t (_row_kind, v) VALUES ('-D', 'x'), ('-D', 'x')")
    assert rows(store, "SELECT count(*), count(v) FROM t") == [(149998, 149998)]
    store.execute("DELETE FROM t WHERE v = 'x'")
    assert rows(store) == []
    assert check(store).statistics().row_count == 0


def test_a_row_that_was_not_there(store):
    store.execute("CREATE TABLE t (id INT, `a {b}` STRING)")
    store.execute("INSERT INTO t VALUES (1, 'a')")
    store.execute("INSERT INTO t (_row_kind, id, `a {b}`) VALUES ('-D', 7, NULL)")
    for statement in (
        "INSERT OVERWRITE other SELECT * FROM t",
        "ALTER TABLE t COMPACT",
        "UPDATE t SET id = id + 1",
    ):
        store.execute("CREATE TABLE IF NOT EXISTS other (id INT, v STRING)")
        before = store.table("t").latest_snapshot()
        with pytest.raises(NegativeCountError, match=r"more often.*\(total -1\): \{'id': 7, 'a \{b\}': None\}"):
            store.execute(statement)
        assert store.table("t").latest_snapshot() == before
    with pytest.raises(NegativeCountError, match="'id': 7"):
        store.table("t").to_arrow()
    # A query that looks at other rows is answered, and what was missing may still come.
    assert rows(store, "SELECT * FROM t WHERE id = 1") == [(1, "a")]
    store.execute("INSERT INTO t VALUES (7, NULL)")
    assert rows(store) == [(1, "a")]
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store) == [(1, "a")]


@pytest.fixture(params=["append", "multiset"])
def multiset(request, store):
    """A table of twelve rows, some of them equal, with a retraction on its way or made to count from the start."""
    made = " WITH ('merge-engine' = 'tablestore-count')" if request.param == "multiset" else ""
    store.execute(f"CREATE TABLE t (id INT, v INT, s STRING){made}")
    store.execute("INSERT INTO t SELECT cast(id % 6 AS INT), cast(id % 6 * 10 AS INT), 's' FROM range(12)")
    if request.param == "append":
        store.execute("INSERT INTO t (_row_kind, id, v, s) VALUES ('+I', 9, 9, NULL), ('+I', 9, 9, NULL)")
        store.execute("INSERT INTO t (_row_kind, id, v, s) VALUES ('-D', 9, 9, NULL), ('-D', 9, 9, NULL)")
    assert store.table("t").schema.merge_engine.rules.is_multiset
    return store


BASE = [(i % 6, i % 6 * 10, "s") for i in range(12)]


@pytest.mark.cover("multiset")
def test_delete_and_update(multiset):
    result = multiset.execute("DELETE FROM t WHERE id = 3")
    assert result.rows_affected == 2
    assert rows(multiset) == sorted(r for r in BASE if r[0] != 3)
    assert multiset.execute("UPDATE t SET v = v + 1, s = NULL WHERE id >= 4").rows_affected == 4
    expected = [r if r[0] < 4 else (r[0], r[1] + 1, None) for r in BASE if r[0] != 3]
    assert rows(multiset) == in_order(expected)
    assert multiset.execute("UPDATE t SET v = v WHERE id = 0").rows_affected == 2
    assert multiset.execute("DELETE FROM t WHERE id = 77").rows_affected == 0
    check(multiset)
    multiset.execute("ALTER TABLE t COMPACT")
    assert rows(multiset) == in_order(expected)
    multiset.execute("INSERT OVERWRITE t VALUES (1, 1, 'only')")
    assert rows(multiset) == [(1, 1, "only")]
    assert multiset.execute("DELETE FROM t").rows_affected == 1
    assert rows(multiset) == []


@pytest.mark.cover("multiset")
def test_merge(multiset):
    multiset.execute("CREATE TABLE news (id INT, v INT)")
    multiset.execute("INSERT INTO news VALUES (1, 111), (2, NULL), (50, 500), (51, NULL)")
    result = multiset.execute(
        "MERGE INTO t USING news ON t.id = news.id"
        " WHEN MATCHED AND news.v IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET v = news.v"
        " WHEN NOT MATCHED AND news.v IS NOT NULL THEN INSERT (id, v, s) VALUES (news.id, news.v, 'new')"
        " WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN DELETE"
    )
    assert result.rows_affected == 7
    expected = [(i, 111 if i == 1 else v, s) for i, v, s in BASE if i not in (2, 5)] + [(50, 500, "new")]
    assert rows(multiset) == sorted(expected)
    check(multiset)
    multiset.execute("INSERT INTO news VALUES (1, 112)")
    before = rows(multiset)
    with pytest.raises(SqlError, match="several source rows"):
        multiset.execute("MERGE INTO t USING news ON t.id = news.id WHEN MATCHED THEN UPDATE SET v = news.v")
    assert rows(multiset) == before


@pytest.mark.cover("multiset")
def test_added_columns_read_null_in_what_was_retracted_before(multiset):
    multiset.execute("ALTER TABLE t ADD COLUMNS (extra INT)")
    multiset.execute(
        "INSERT INTO t (_row_kind, id, v, s, extra) VALUES ('-D', 1, 10, 's', NULL), ('+I', 1, 10, 's', 5)"
    )
    found = [r for r in rows(multiset) if r[0] == 1]
    assert found == in_order([(1, 10, "s", None), (1, 10, "s", 5)])
    check(multiset)
    multiset.execute("ALTER TABLE t COMPACT")
    assert [r for r in rows(multiset) if r[0] == 1] == found


def test_maps_and_floats_are_counted(store):
    """Maps are equal whatever the order of their entries, 0.0 and -0.0 are in one bucket and partition."""
    count = "'merge-engine' = 'tablestore-count'"
    store.execute(f"CREATE TABLE m (id INT, m MAP<STRING, INT>, a ARRAY<MAP<INT, DOUBLE>>) WITH ({count})")
    store.execute("INSERT INTO m SELECT id, map('a', 1, 'b', id), array(map(1, 0.0D)) FROM range(4)")
    store.execute("INSERT INTO m SELECT 1, map('b', 1, 'a', 1), array(map(1, -0.0D))")
    store.execute("INSERT INTO m (_row_kind, id, m, a) SELECT '-D', 1, map('b', 1, 'a', 1), array(map(1, 0.0D))")
    store.execute("DELETE FROM m WHERE id = 3")
    store.execute("UPDATE m SET m = map('c', 1) WHERE id = 2")
    expected = [(0, {"a": 1, "b": 0}), (1, {"a": 1, "b": 1}), (2, {"c": 1})]
    for _ in range(2):
        assert sorted(tuple(row) for row in store.sql("SELECT id, m FROM m").collect()) == expected
        assert sorted(row["id"] for row in store.table("m").to_arrow().to_pylist()) == [0, 1, 2]
        store.execute("ALTER TABLE m COMPACT")
    options = f"{count}, 'bucket' = '3', 'bucket-key' = 'x'"
    store.execute(f"CREATE TABLE f (id INT, x DOUBLE, p FLOAT) PARTITIONED BY (p) WITH ({options})")
    store.execute("INSERT INTO f VALUES (1, 0.0D, 0.0F), (2, double('NaN'), float('NaN')), (3, 1.5D, -0.0F)")
    store.execute("INSERT INTO f (_row_kind, id, x, p) VALUES ('-D', 1, -0.0D, -0.0F), ('-D', 3, 1.5D, 0.0F)")
    store.table("f").write(
        pa.table({"id": pa.array([4], pa.int32()), "x": [-0.0], "p": pa.array([-0.0], pa.float32())})
    )
    store.execute("DELETE FROM f WHERE isnan(x) OR x = 0")
    assert store.sql("SELECT * FROM f").collect() == []


@pytest.mark.parametrize(
    ("table", "row", "words"),
    [
        ("(id INT) WITH ('retractions' = 'refuse')", "1", "'retractions' = 'refuse'.*'id': 1"),
        ("(id INT, x DOUBLE) WITH ('bucket' = '2', 'bucket-key' = 'x')", "1, 0.5", "'x'.*has type DOUBLE"),
    ],
)
def test_tables_that_take_none(store, table, row, words):
    store.execute(f"CREATE TABLE t {table}")
    store.execute(f"INSERT INTO t SELECT {row}")
    before = store.table("t").latest_snapshot()
    names = ", ".join(store.table("t").schema.field_names)
    with pytest.raises(RowKindError, match=words):
        store.execute(f"INSERT INTO t (_row_kind, {names}) SELECT '-D', {row}")
    assert store.table("t").latest_snapshot() == before
    assert not store.table("t").schema.merge_engine.rules.is_multiset
    assert rows(store, "SELECT count(*) FROM t") == [(1,)]


def test_the_engine_is_for_tables_without_a_key(store):
    keyed = "(id INT, PRIMARY KEY (id) NOT ENFORCED)"
    with pytest.raises(OptionError, match="tablestore-count"):
        store.execute(f"CREATE TABLE t {keyed} WITH ('merge-engine' = 'tablestore-count')")
    store.execute("CREATE TABLE t (id INT)")
    store.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(OptionError, match="cannot be changed"):
        store.execute("ALTER TABLE t SET TBLPROPERTIES ('merge-engine' = 'tablestore-count')")


def test_tables_made_of_changes(store):
    changes = "SELECT * FROM VALUES ('+I', 1), ('+I', 2), ('-D', 1), ('-D', 3), ('+I', 3) AS s(_row_kind, id)"
    counts = "WITH ('merge-engine' = 'tablestore-count')"
    with pytest.raises(RowKindError, match="declare a PRIMARY KEY"):
        store.execute(f"CREATE TABLE t AS {changes}")
    store.execute(f"CREATE TABLE t {counts} AS {changes}")
    assert rows(store) == [(2,)]
    more = "SELECT * FROM VALUES ('+I', 1), ('-D', 2), ('+I', 2) AS s(_row_kind, id)"
    store.execute(f"INSERT OVERWRITE t {more}")
    assert rows(store) == [(1,)]
    answer = "SELECT '-D' AS _row_kind, 1 AS id, 'x' AS v"
    for verb in ("CREATE TABLE made", "CREATE OR REPLACE TABLE made", "CREATE OR REPLACE TABLE t"):
        store.execute(f"{verb} {counts} AS {answer}")
        name = verb.rsplit(" ", 1)[1]
        with pytest.raises(NegativeCountError):
            store.table(name).to_arrow()
        store.execute(f"INSERT INTO {name} VALUES (1, 'x'), (2, 'y')")
        assert rows(store, f"SELECT * FROM {name}") == [(2, "y")]
        check(store, name)
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS id")
    assert not store.table("t").schema.merge_engine.rules.is_multiset


@pytest.mark.cover("multiset")
def test_the_catalog_shows_the_merge_engine(multiset):
    text = multiset.sql("SHOW CREATE TABLE t").collect()[0][0]
    assert "'merge-engine' = 'tablestore-count'" in text
    multiset.execute(text.replace("`t`", "`copy`", 1))
    assert multiset.table("copy").schema.merge_engine.rules.is_multiset
    details = {r[0]: r[1] for r in multiset.sql("DESCRIBE EXTENDED t").collect()}
    assert details["Row Count"] == "12"
    assert "merge-engine=tablestore-count" in details["Table Properties"]


def test_small_changes_merge_by_themselves(store):
    store.execute("CREATE TABLE t (id INT) WITH ('compaction.min.file-num' = '4')")
    for number in range(12):
        store.execute(f"INSERT INTO t (_row_kind, id) VALUES ('+I', {number}), ('+I', 77)")
        store.execute(f"INSERT INTO t (_row_kind, id) VALUES ('-D', 77), ('-D', {number})")
        assert rows(store) == []
    assert len(check(store).live_files()) <= 5
    assert "COMPACT" in {s.commit_kind for s in store.table("t").snapshots()}


def test_a_small_table_is_kept_in_one_file(store):
    store.execute("CREATE TABLE t (id INT) WITH ('compaction.total-size-threshold' = '1 mb')")
    store.execute("INSERT INTO t VALUES (1), (2), (2)")
    store.execute("INSERT INTO t (_row_kind, id) VALUES ('-D', 2), ('-D', 7)")
    store.execute("INSERT INTO t (_row_kind, id) VALUES ('-D', 1), ('+I', 3)")
    # One row was taken away before it came. That is kept, and the write does not fail for it.
    assert sorted(bool(e.file.delete_row_count) for e in store.table("t").live_files()) == [False, True]
    store.execute("INSERT INTO t VALUES (7)")
    assert rows(store) == [(2,), (3,)]
    table = check(store)
    assert len(table.live_files()) == 1
    assert not holds_retractions(table)


def test_unknown_kinds_change_nothing(store):
    store.execute("CREATE TABLE t (id INT)")
    with pytest.raises(RowKindError, match=r"^INSERT INTO default\.t failed: Unknown row kind: X\. It is one of"):
        store.execute("INSERT INTO t (_row_kind, id) VALUES ('X', 1)")
    assert store.table("t").latest_snapshot() is None


def test_its_life(store):
    """What is done to other tables is done to one that counts: sorting, plans, audit log, statistics, rollback."""
    store.execute("CREATE TABLE t (a INT, b STRING)")
    store.execute("INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, 'y'), (3, NULL)")
    store.execute("INSERT INTO t (_row_kind, a, b) VALUES ('-D', 1, 'x'), ('+I', 4, 'z'), ('-D', 3, NULL)")
    after = [(1, "x"), (2, "y"), (4, "z")]
    assert rows(store, "SELECT * FROM t$audit_log") == [("+I", *row) for row in after]
    store.execute("ANALYZE TABLE t COMPUTE STATISTICS")
    assert rows(store, "SELECT mergedRecordCount FROM t$statistics") == [(3,)]
    store.execute("CALL sys.compact(table => 't', order_strategy => 'order', order_by => 'a')")
    assert not holds_retractions(check(store))
    assert rows(store) == after
    store.execute("INSERT INTO t (_row_kind, a, b) VALUES ('-D', 2, 'y')")
    store.execute("CALL sys.schedule_compaction(table => 't', strategy => 'full')")
    store.execute("CALL sys.run_compaction(table => 't')")
    assert rows(store) == [(1, "x"), (4, "z")]
    store.execute("CALL sys.rollback(table => 't', version => '2')")
    assert rows(store) == after
    store.execute("CALL sys.rollback(table => 't', version => '1')")
    assert rows(store) == [(1, "x"), (1, "x"), (2, "y"), (3, None)]
    check(store)


def test_row_level_changes_where_retractions_are_left_out(store):
    """`ignore-delete` is about rows that say that they are deletes, not about what DELETE, UPDATE and MERGE do."""
    store.execute(
        "CREATE TABLE t (a INT, b STRING) WITH ('merge-engine' = 'tablestore-count', 'ignore-delete' = 'true')"
    )
    store.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (2, 'y'), (3, 'z')")
    store.execute("INSERT INTO t (_row_kind, a, b) VALUES ('-D', 1, 'x'), ('-U', 3, 'z')")
    assert rows(store) == [(1, "x"), (2, "y"), (2, "y"), (3, "z")]
    store.execute("UPDATE t SET b = 'u' WHERE a = 2")
    store.execute("DELETE FROM t WHERE a = 3")
    store.execute(
        "MERGE INTO t USING (SELECT 1 AS a) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = 'm'"
        " WHEN NOT MATCHED BY SOURCE AND b = 'w' THEN DELETE"
    )
    assert rows(store) == [(1, "m"), (2, "u"), (2, "u")]
    store.execute("ALTER TABLE t COMPACT")
    assert rows(store) == [(1, "m"), (2, "u"), (2, "u")]
