"""Computed columns: evaluated when a table is read, and never written."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import SchemaError, SqlError, TableStoreError

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_computed_columns(store, key):
    store.execute(
        f"CREATE TABLE t (id INT, twice AS id * 2 COMMENT 'x', v STRING, at TIMESTAMP, up AS upper(v){key}, "
        "WATERMARK FOR at AS at - INTERVAL 5 SECONDS)"
    )
    store.execute("INSERT INTO t VALUES (1, 'a', NULL), (2, 'b', NULL)")
    answer = [(1, 2, "a", None, "A"), (2, 4, "b", None, "B")]
    assert rows(store) == answer
    assert rows(store, "SELECT id FROM t WHERE twice > 2 AND up = 'B'") == [(2,)]
    assert [tuple(row) for row in store.read("t").sort("id").collect()] == answer
    store.execute("UPDATE t SET v = 'c' WHERE up = 'B'")
    store.execute("DELETE FROM t WHERE twice = 2")
    store.execute(
        "MERGE INTO t USING (SELECT 2 AS k) s ON t.id = s.k WHEN MATCHED AND t.up = 'C' THEN UPDATE SET v = 'd'"
    )
    assert rows(store) == [(2, 4, "d", None, "D")]
    with pytest.raises(TableStoreError):
        store.execute("INSERT INTO t (id, twice) VALUES (3, 3)")
    text = store.sql("SHOW CREATE TABLE t").first()[0]
    assert "`twice` AS id * 2 COMMENT 'x'" in text
    assert "WATERMARK FOR `at` AS at - INTERVAL 5 SECONDS" in text
    store.execute("DROP TABLE t")
    store.execute(text)
    assert store.sql("SHOW CREATE TABLE t").first()[0] == text
    described = [tuple(row) for row in store.sql("DESCRIBE t").collect()]
    assert ("up", "string", "AS upper(v)") in described
    assert ("twice", "int", "AS id * 2 COMMENT 'x'") in described
    for change in ("DROP COLUMN v", "RENAME COLUMN v TO w"):
        with pytest.raises(SchemaError, match="up AS upper"):
            store.execute(f"ALTER TABLE t {change}")
    with pytest.raises(SqlError, match="'c' AS nope"):
        store.execute("CREATE TABLE u (id INT, c AS nope + 1)")
    for element in ("nope - INTERVAL 5 SECONDS", "at + nope"):
        with pytest.raises(SqlError, match=r"WATERMARK FOR at AS .* names what the table does not have: .*nope"):
            store.execute(f"CREATE TABLE u (id INT, at TIMESTAMP, WATERMARK FOR at AS {element})")
    store.execute("CREATE TABLE u (s STRING, at AS to_timestamp(s), WATERMARK FOR at AS of_another_engine(at))")
    store.execute("DROP TABLE u")
    with pytest.raises(SqlError, match="'c' AS nope"):
        store.execute("ALTER TABLE t ADD COLUMN c AS nope + 1")
    store.execute(
        "ALTER TABLE t ADD COLUMNS (n INT, half BIGINT GENERATED ALWAYS AS (n / 2) COMMENT 'h', nine AS id + n FIRST)"
    )
    store.execute("INSERT INTO t VALUES (8, 'x', NULL, 3)")
    assert rows(store, "SELECT * FROM t WHERE half = 1") == [(11, 8, 16, "x", None, "X", 3, 1)]
    found = [tuple(row) for row in store.sql("DESCRIBE t").collect()]
    assert ("half", "bigint", "AS CAST(n / 2 AS BIGINT) COMMENT 'h'") in found
    names = ["nine", "id", "twice", "v", "at", "up", "n", "half"]
    assert [row[0] for row in store.sql("SHOW COLUMNS IN t").collect()] == names
    listed = "SELECT column_name FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position"
    assert [row[0] for row in store.sql(listed).collect()] == names
    assert ("expression", "upper(v)") in [tuple(row) for row in store.sql("DESCRIBE TABLE t up").collect()]
    with pytest.raises(SchemaError, match="'half' is computed"):
        store.table("t").to_arrow(["id", "half"])
    assert set(store.table("t").to_arrow().column_names) == {"id", "v", "at", "n"}
    store.execute("ALTER TABLE t DROP COLUMN nine, DROP COLUMN half, DROP COLUMN n")
    store.execute("ALTER TABLE t RENAME COLUMN twice TO double")
    assert rows(store, "SELECT * FROM t WHERE id = 8") == [(8, 16, "x", None, "X")]
