"""UPDATE and DELETE against the same statement computed naively, on tables with and without a key."""

from __future__ import annotations

import pytest
from support.row_level import TARGET, check
from support.spark_rows import in_order, rows, stored

from tablestore_engine.errors import ColumnNotFound, PrimaryKeyError, SchemaError, SqlError, TableStoreError

pytestmark = [pytest.mark.spark, pytest.mark.cover("target")]


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("id = 3", lambda i, v, s: i == 3),
        ("v > 50 AND s IS NOT NULL", lambda i, v, s: v > 50 and s is not None),
        ("s = 't5' OR id < 2", lambda i, v, s: s == "t5" or i < 2),
        ("t.id IN (SELECT id FROM source)", lambda i, v, s: i in (3, 4, 5)),
        ("EXISTS (SELECT 1 FROM source WHERE source.id = t.id AND source.v > 400)", lambda i, v, s: i == 5),
        ("v > (SELECT avg(v) FROM default.t)", lambda i, v, s: v > 55),
        ("s = 'nothing'", lambda i, v, s: False),
        ("NOT (s = 't1')", lambda i, v, s: s is not None and s != "t1"),
        ("true", lambda i, v, s: True),
    ],
)
def test_delete(target, where, holds):
    expected = [r for r in TARGET if not holds(*r)]
    assert target.execute(f"DELETE FROM t WHERE {where}").rows_affected == len(TARGET) - len(expected)
    assert stored(target) == sorted(expected)
    check(target)


def test_delete_without_condition_and_alias(target):
    assert target.execute("DELETE FROM t AS x WHERE x.id = 1 OR x.v = 20").rows_affected == 2
    assert target.execute("DELETE FROM t").rows_affected == len(TARGET) - 2
    assert rows(target) == []
    assert target.execute("DELETE FROM t WHERE id = 1").rows_affected == 0


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE t AS x SET t.v = 1", "'t.v' is not a column: the alias x hides the name of table t. Write x.v."),
        ("UPDATE t x SET v = 1, default.T.s = 'a'", "'default.T.s' is not a column: .* hides .* Write x.s."),
        ("UPDATE default.t x SET tablestore.default.t.s = 'a'", "hides the name of table default.t. Write x.s."),
        ("UPDATE default.t AS x SET v = default.t.id", "UNRESOLVED.* `default`.`t`.`id` cannot be resolved"),
        ("UPDATE t AS x SET v = 1 WHERE default.t.id = 1", "UNRESOLVED.* `default`.`t`.`id` cannot be resolved"),
        ("DELETE FROM t AS x WHERE t.id = 1", "UNRESOLVED.* `t`.`id` cannot be resolved"),
        ("DELETE FROM t AS x WHERE default.t.id = 1", "UNRESOLVED.* `default`.`t`.`id` cannot be resolved"),
        ("MERGE INTO t AS x {on} WHEN MATCHED THEN UPDATE SET t.v = 1", "'t.v' is not a column: .* Write x.v."),
        ("MERGE INTO t AS x {on} WHEN NOT MATCHED THEN INSERT (id, t.v) VALUES (1, 2)", "'t.v' is not a .* Write x.v."),
        ("MERGE INTO t AS x {on} WHEN MATCHED AND default.t.v = 1 THEN DELETE", "UNRESOLVED.* `default`.`t`.`v`"),
        ("MERGE INTO t AS x {on} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = t.id", "UNRESOLVED.* `t`.`id`"),
    ],
)
def test_an_alias_hides_the_name_of_the_table(target, statement, reason):
    with pytest.raises(SqlError, match=reason):
        target.execute(statement.format(on="USING source s ON x.id = s.id"))
    assert stored(target) == sorted(TARGET)


OWN = "MERGE INTO default.t AS t USING source s ON t.id = s.id"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE default.t AS t SET v = default.t.id",
        "UPDATE default.t AS T SET v = 1 WHERE default.t.id = 1",
        "DELETE FROM default.t AS t WHERE default.t.id = 1",
        "DELETE FROM t AS t WHERE tablestore.default.t.id IN (1)",
        "MERGE INTO default.t AS t USING source s ON default.t.id = s.id WHEN MATCHED THEN DELETE",
        f"{OWN} WHEN MATCHED AND default.t.v = 30 THEN DELETE",
        f"{OWN} WHEN MATCHED THEN UPDATE SET v = default.t.v + 1",
        f"{OWN} WHEN NOT MATCHED BY SOURCE AND default.t.id < 3 THEN DELETE",
        f"{OWN} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = default.t.id",
        "MERGE INTO t USING default.u AS u ON t.id = default.u.id WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING default.u U ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = default.u.v",
        "MERGE INTO t USING default.u AS u ON t.id = u.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (1, default.u.v)",
    ],
)
def test_an_alias_that_is_the_last_name_of_the_table_hides_its_schema(target, statement):
    """As in Spark: `t` is another name than `default.t`, also where the statement gives it to `default.t`."""
    target.execute("CREATE TABLE u AS SELECT * FROM source")
    with pytest.raises(SqlError, match=r"UNRESOLVED_COLUMN.*`default`\.`[tu]`\.`(id|v)` cannot be resolved"):
        target.execute(statement)
    assert stored(target) == sorted(TARGET)


def test_without_an_alias_the_whole_name_of_a_table_qualifies_its_columns(target):
    target.execute("CREATE TABLE u AS SELECT * FROM source")
    target.execute(
        "MERGE INTO default.t USING default.u ON default.t.id = default.u.id AND t.v < 10 * default.u.id + 1 "
        "WHEN MATCHED AND default.t.id = 3 THEN UPDATE SET default.t.v = default.t.v + default.u.v "
        "WHEN NOT MATCHED BY SOURCE AND default.t.id > 9 THEN DELETE"
    )
    assert stored(target) == sorted((i, 330 if i == 3 else v, s) for i, v, s in TARGET if i < 10)


def test_a_struct_that_is_called_like_the_table_is_not_hidden(store):
    store.execute("CREATE TABLE st (id INT, st STRUCT<v: INT>)")
    store.execute("INSERT INTO st VALUES (1, named_struct('v', 1))")
    store.execute("UPDATE st AS x SET st.v = st.v + 1 WHERE st.v = 1")
    assert rows(store, "SELECT id, st.v FROM st") == [(1, 2)]


@pytest.mark.parametrize(
    ("statement", "change"),
    [
        ("SET v = v + 1 WHERE id < 5", lambda i, v, s: (i, v + 1, s) if i < 5 else (i, v, s)),
        ("SET v = id, s = concat('x', s)", lambda i, v, s: (i, i, None if s is None else "x" + s)),
        (
            "SET v = length(s), s = v WHERE s IS NOT NULL",
            lambda i, v, s: (i, v, s) if s is None else (i, len(s), str(v)),
        ),
        ("AS q SET q.v = NULL WHERE q.id = 2", lambda i, v, s: (i, None if i == 2 else v, s)),
        ("SET v = (SELECT max(v) FROM source) WHERE id = 1", lambda i, v, s: (i, 2000 if i == 1 else v, s)),
        ("SET V = -1 WHERE ID = 7", lambda i, v, s: (i, -1 if i == 7 else v, s)),
        ("SET v = 0 WHERE id = 99", lambda i, v, s: (i, v, s)),
    ],
)
def test_update(target, statement, change):
    expected = [change(*r) for r in TARGET]
    where = "WHERE" in statement
    changed = target.execute(f"UPDATE t {statement}").rows_affected
    assert stored(target) == sorted(expected)
    assert changed == (sum(a != b for a, b in zip(TARGET, expected, strict=True)) if where else len(TARGET))
    check(target)


@pytest.mark.parametrize(
    ("statement", "error", "words"),
    [
        ("UPDATE t SET v = 1, v = 2", SchemaError, "twice"),
        ("UPDATE t SET nope = 1", TableStoreError, "nope"),
        ("UPDATE t SET v = nope + 1", SqlError, "nope"),
        ("DELETE FROM t WHERE nope = 1", SqlError, "nope"),
    ],
)
def test_mistakes(target, statement, error, words):
    with pytest.raises(error, match=words):
        target.execute(statement)
    assert stored(target) == sorted(TARGET)
    assert len(target.table("t").snapshots()) == 1


def test_a_key_cannot_be_updated(target):
    if not target.keyed:
        target.execute("UPDATE t SET id = 100 WHERE id = 1")
        assert rows(target) == in_order((100 if i == 1 else i, v, s) for i, v, s in TARGET)
        return
    with pytest.raises(PrimaryKeyError, match="cannot change"):
        target.execute("UPDATE t SET id = 100 WHERE id = 1")


def test_a_column_of_the_target_and_a_variable_of_the_same_name(store, monkeypatch):
    """A subquery that is computed before the statement means the same as in it."""
    monkeypatch.setattr("tablestore_engine.spark.read.merge_source_bounds.LARGE_FILES", 0)
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
    store.spark.sql("SELECT * FROM VALUES (1, 10), (2, 5) AS s (x, y)").createOrReplaceTempView("s")
    store.execute("DECLARE VARIABLE v INT DEFAULT 5")
    store.execute("DELETE FROM t WHERE id IN (SELECT x FROM s WHERE y = v)")
    assert rows(store) == [(2, 20), (3, 30)]


def test_a_null_that_a_partial_update_would_keep_is_refused(store):
    """In a sequence group a null is a value."""
    store.sql(
        "CREATE TABLE partial (id INT, v INT, s INT, g INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'partial-update', 'fields.s.sequence-group' = 'g')"
    )
    store.sql("INSERT INTO partial VALUES (1, 10, 1, 5)")
    for text in (
        "UPDATE partial SET v = null WHERE id = 1",
        "MERGE INTO partial t USING (SELECT 1 AS k) s ON t.id = s.k WHEN MATCHED THEN UPDATE SET v = NULL",
    ):
        with pytest.raises(SqlError, match="'v' cannot be set to NULL: with 'merge-engine' = 'partial-update'"):
            store.sql(text)
    store.sql("UPDATE partial SET g = NULL WHERE id = 1")
    assert [tuple(row) for row in store.sql("SELECT * FROM partial").collect()] == [(1, 10, 1, None)]


def test_assigned_columns_may_name_the_catalog(store):
    store.sql("CREATE TABLE named (id INT, s STRUCT<x: INT>, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO named VALUES (1, struct(1))")
    store.sql("UPDATE tablestore.default.named SET tablestore.default.named.s.x = 7 WHERE default.named.id = 1")
    assert store.sql("SELECT s.x FROM named").collect()[0][0] == 7


def test_a_column_may_have_the_name_of_its_table(store):
    store.sql("CREATE TABLE s (id INT, s STRUCT<x: INT, id: INT>)")
    store.sql("INSERT INTO s VALUES (1, named_struct('x', 1, 'id', 1))")
    store.sql("UPDATE s SET s.x = 5, s.id = 2")
    assert store.sql("SELECT id, s.s.x, s.s.id FROM s").collect() == [(2, 5, 1)]
    store.sql("MERGE INTO s USING (SELECT 2 AS k) q ON s.id = q.k WHEN MATCHED THEN UPDATE SET s.x = 6, s.s.id = 3")
    assert store.sql("SELECT id, s.s.x, s.s.id FROM s").collect() == [(2, 6, 3)]
    with pytest.raises(ColumnNotFound, match="'x' does not exist"):
        store.sql("UPDATE s SET x = 7")
