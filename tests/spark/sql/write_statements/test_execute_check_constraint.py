"""CHECK constraints: every way to write rows obeys them, and what fails changes nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from support.spark_rows import rows

from tablestore_engine.errors import ConstraintError, SqlError, StorageError

pytestmark = [pytest.mark.spark, pytest.mark.cover("key")]

SOURCE = "(SELECT 2 AS id, -7 AS c) u ON t.id = u.id"
VIOLATIONS = (
    "INSERT INTO t VALUES (3, -7)",
    "INSERT OVERWRITE t VALUES (3, -7)",
    "INSERT INTO t REPLACE WHERE id = 1 VALUES (1, -7)",
    "UPDATE t SET c = c - 12",
    f"MERGE INTO t USING {SOURCE} WHEN MATCHED THEN UPDATE SET c = u.c",
    f"MERGE INTO t USING {SOURCE} AND t.c = 0 WHEN NOT MATCHED THEN INSERT (id, c) VALUES (3, u.c)",
)
VIOLATED = r"A row violates the CHECK constraint c_check \(c > 0\): c = -7\."


@pytest.mark.parametrize("tail", [")", ", PRIMARY KEY (id))", ") TBLPROPERTIES ('deletion-vectors.enabled' = 'true')"])
def test_no_write_violates_a_constraint(store, tail):
    store.execute(f"CREATE TABLE t (id INT, c INT CHECK (c > 0), CONSTRAINT small CHECK (c < 100){tail}")
    store.execute("INSERT INTO t VALUES (1, 5), (2, 6), (4, NULL)")
    before = store.table("t").latest_snapshot()
    # An UPDATE and a MERGE depend on the kind of table; what inserts rows checks them before.
    for text in VIOLATIONS if tail == ")" else VIOLATIONS[3:]:
        with pytest.raises(ConstraintError, match=rf"^[A-Z ]+ default\.t failed: {VIOLATED}"):
            store.execute(text)
    with pytest.raises(ConstraintError, match=r"small \(c < 100\): c = 300\."):
        store.write("t", store.spark.sql("SELECT 5 AS id, 300 AS c"))
    with pytest.raises(ConstraintError, match=rf"^Writing to table default\.t failed: {VIOLATED}"):
        store.table("t").write(pa.table({"id": pa.array([5], pa.int32()), "c": pa.array([-7], pa.int32())}))
    assert store.table("t").latest_snapshot() == before
    store.execute("UPDATE t SET c = c + 1 WHERE id < 3")
    store.execute("DELETE FROM t WHERE id = 4")
    assert rows(store) == [(1, 6), (2, 7)]


def test_a_constraint_is_added_where_all_rows_obey(store):
    store.execute("CREATE TABLE t (id INT, c CHAR(4))")
    store.execute("INSERT INTO t VALUES (1, 'ab'), (2, NULL)")
    for condition, error in (
        ("id > 1", r"rows that violate the new CHECK constraint id_check \(id > 1\): id = 1\."),
        ("nope > 1", "cannot be evaluated: .*`nope`"),
        ("sum(id) > 1", "cannot be evaluated: .*WHERE"),
        ("id + 1", "cannot be evaluated: .*not a boolean"),
    ):
        with pytest.raises((ConstraintError, SqlError), match=error):
            store.execute(f"ALTER TABLE t ADD CHECK ({condition})")
    store.execute("ALTER TABLE t ADD CONSTRAINT known CHECK (c IN ('ab', 'cd'))")
    assert "CONSTRAINT `known` CHECK (c IN ('ab', 'cd'))" in store.sql("SHOW CREATE TABLE t").first()[0]
    assert ("known", "CHECK (c IN ('ab', 'cd'))", "") in [tuple(r) for r in store.sql("DESCRIBE EXTENDED t").collect()]
    store.execute("CREATE TABLE l LIKE t")
    for table in ("t", "l"):
        store.execute(f"INSERT INTO {table} VALUES (3, 'cd')")
        with pytest.raises(ConstraintError, match="known"):
            store.execute(f"INSERT INTO {table} VALUES (3, 'ef')")
    store.execute("CALL sys.rollback('t', 1)")
    store.execute("INSERT INTO t VALUES (3, 'ef')")


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id)"])
def test_rows_are_checked_with_the_columns_of_now(store, key):
    """No commit has the schema of now."""
    store.execute(f"CREATE TABLE t (id INT, a INT, b INT{key})")
    store.execute("INSERT INTO t VALUES (1, 1, -5)")
    store.execute("ALTER TABLE t RENAME COLUMN a TO z, RENAME COLUMN b TO a, DROP COLUMN z")
    store.execute("ALTER TABLE t ADD COLUMN z INT")
    for condition in ("a > 0", "z IS NOT NULL"):
        with pytest.raises(ConstraintError, match="rows that violate"):
            store.execute(f"ALTER TABLE t ADD CHECK ({condition})")
    store.execute("ALTER TABLE t ADD CHECK (a < 0 AND z IS NULL)")


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id)"])
def test_files_whose_statistics_exclude_a_violation_are_not_read(store, key):
    store.execute(f"CREATE TABLE t (id INT, c INT, s STRING{key})")
    store.execute("INSERT INTO t VALUES (1, 1, 'a'), (2, 5, NULL)")
    for file in Path(store.table("t").path).rglob("*.parquet"):
        file.unlink()
    store.execute("ALTER TABLE t ADD CHECK (c BETWEEN 1 AND 5 AND (c IS NOT NULL OR s > 'a'))")
    for condition in ("c < 5", "s IS NOT NULL", "c + 1 > 0"):
        with pytest.raises(StorageError, match="parquet"):
            store.execute(f"ALTER TABLE t ADD CHECK ({condition})")


def test_a_query_fills_a_table_that_obeys(store):
    with pytest.raises(ConstraintError, match="b_check"):
        store.execute("CREATE TABLE t (a, b, CHECK (b > 1)) AS SELECT id, id FROM range(5)")
    assert not store.catalog.table_exists("default", "t")
    store.execute("CREATE TABLE t (a, b, CHECK (b > 1)) AS SELECT id, id + 2 FROM range(5)")
    with pytest.raises(ConstraintError, match="b_check"):
        store.execute("INSERT INTO t VALUES (1, 1)")
    for create in (
        lambda: store.execute("CREATE TABLE u (a INT, CONSTRAINT b_check CHECK (b > 1))"),
        lambda: store.execute("CREATE TABLE u (a, CONSTRAINT b_check CHECK (b > 1)) AS SELECT id FROM range(5)"),
        lambda: store.create_table("u", {"a": "INT"}, options={"constraint.check.b_check": "b >"}),
    ):
        with pytest.raises(SqlError, match=r"constraint b_check .* cannot be evaluated") as raised:
            create()
        assert "columns of the table, constants" in raised.value.hint
        assert not store.catalog.table_exists("default", "u")
