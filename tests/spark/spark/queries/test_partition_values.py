"""INSERT OVERWRITE … PARTITION replaces the very partition that it writes, however its value is written."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import SqlError

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("kind", "stored", "written"),
    [
        ("STRING", "'it''s'", "'it''s'"),
        ("STRING", r"'it\'s'", '"it\'s"'),
        ("STRING", "'ab'", "concat('a', 'b')"),
        ("STRING", "'ab'", "'a' || 'b'"),
        ("STRING", "'1'", "01"),
        ("STRING", "NULL", "NULL"),
        ("INT", "3", "1 + 2"),
        ("INT", "3", "'03'"),
        ("BIGINT", "3", "3L"),
        ("DATE", "DATE'2024-01-05'", "'2024-1-5'"),
        ("DATE", "DATE'2024-01-05'", "date_add(DATE'2024-01-04', 1)"),
        ("DATE", "DATE'2024-01-05'", "cast('2024-01-05' AS DATE)"),
        ("TIMESTAMP", "TIMESTAMP'2024-01-05 06:00:00'", "'2024-01-05 06:00:00'"),
        ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'2024-01-05 06:00:00'", "TIMESTAMP_NTZ'2024-01-05 06:00:00'"),
        ("DECIMAL(10, 2)", "1.5", "1.50"),
        ("DOUBLE", "double('NaN')", "double('NaN')"),
        ("BOOLEAN", "true", "TRUE"),
    ],
)
def test_the_partition_that_is_written_is_the_one_replaced(store, kind, stored, written):
    store.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    store.execute(f"CREATE TABLE t (id INT, p {kind}) PARTITIONED BY (p)")
    store.execute(f"INSERT INTO t SELECT 1, {stored}")
    ((_, partition),) = rows(store)
    replaced = str([(2, partition)])  # as a text NaN equals itself
    store.execute(f"INSERT OVERWRITE t PARTITION (p = {written}) SELECT 2")
    assert str(rows(store)) == replaced
    assert store.execute(f"INSERT OVERWRITE t PARTITION (p = {written}) IF NOT EXISTS SELECT 3").rows_affected == 0
    assert str(rows(store)) == replaced


def test_if_not_exists(store):
    store.execute("CREATE TABLE t (id INT, p STRING, q INT) PARTITIONED BY (p, q)")
    store.execute("INSERT OVERWRITE t PARTITION (p = 'a', q = 1) IF NOT EXISTS VALUES (1)")
    store.execute("INSERT OVERWRITE t PARTITION (p = 'a', q = 1) IF NOT EXISTS VALUES (2)")
    store.execute("INSERT OVERWRITE t PARTITION (p = 'a', q = 2) IF NOT EXISTS VALUES (3)")
    assert rows(store) == [(1, "a", 1), (3, "a", 2)]
    for clause in ("PARTITION (p = 'a')", "PARTITION (p = 'a', q)"):
        with pytest.raises(SqlError, match="a value for every partition column"):
            store.execute(f"INSERT OVERWRITE t {clause} IF NOT EXISTS SELECT 1, 1")
    with pytest.raises(SqlError, match="supported with INSERT OVERWRITE only"):
        store.execute("INSERT INTO t PARTITION (p = 'a', q = 1) IF NOT EXISTS VALUES (1)")


def test_a_partition_with_a_quote_in_its_name_can_be_removed(store):
    store.execute("CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)")
    store.execute(r"INSERT INTO t VALUES (1, 'it''s'), (2, 'x'), (3, 'a\\b'), (4, 'y')")
    assert store.execute("TRUNCATE TABLE t PARTITION (p = 'it''s')").rows_affected == 1
    store.execute(r"ALTER TABLE t DROP PARTITION (p = 'a\\b')")
    assert rows(store) == [(2, "x"), (4, "y")]
    with pytest.raises(SqlError, match="needs a value"):
        store.execute("TRUNCATE TABLE t PARTITION (p)")
    assert rows(store) == [(2, "x"), (4, "y")]
