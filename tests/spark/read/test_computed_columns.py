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
    assert ("up", "string", "AS upper(v)") in [tuple(row) for row in store.sql("DESCRIBE t").collect()]
    for change in ("DROP COLUMN v", "RENAME COLUMN v TO w"):
        with pytest.raises(SchemaError, match="up AS upper"):
            store.execute(f"ALTER TABLE t {change}")
    with pytest.raises(SqlError, match="'c' AS nope"):
        store.execute("CREATE TABLE u (id INT, c AS nope + 1)")
