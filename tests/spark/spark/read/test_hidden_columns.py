"""Hidden columns say where a row is stored, and only queries that name them see them."""

from __future__ import annotations

import glob
import re

import pytest
from support.spark_rows import answers

from tablestore_engine.errors import SchemaError, SqlError

pytestmark = pytest.mark.spark

ALL = "__paimon_file_path, __paimon_row_index, __paimon_partition, __paimon_bucket"


def test_a_table_without_a_key(store):
    store.sql("CREATE TABLE t (c1 INT, p1 INT, p2 STRING) PARTITIONED BY (p1, p2)")
    store.sql("INSERT INTO t VALUES (1, 1, 'x'), (2, 1, 'x'), (3, 2, 'y')")
    found = answers(store, f"SELECT *, {ALL} FROM t ORDER BY c1")
    assert [row[:3] for row in found] == [(1, 1, "x"), (2, 1, "x"), (3, 2, "y")]
    assert [(row[4], tuple(row[5]), row[6]) for row in found] == [(0, (1, "x"), 0), (1, (1, "x"), 0), (0, (2, "y"), 0)]
    folder = store.table("t").path
    assert {re.sub("^file:/+", "/", row[3]) for row in found} == set(glob.glob(f"{folder}/p1=*/*/*/*.parquet"))
    columns = ["c1", "p1", "p2"]
    of_one = f"SELECT count(*), max(t.c1) FROM t WHERE t.__paimon_file_path = '{found[0][3]}'"
    assert answers(store, of_one) == [(2, 2)]
    assert store.sql("SELECT a.*, b.__paimon_bucket AS n FROM t a JOIN t b USING (c1)").columns == [*columns, "n"]
    assert store.sql("SELECT * FROM t a JOIN t b ON a.__paimon_row_index = b.__paimon_row_index").columns == columns * 2
    assert store.sql("SELECT * FROM t WHERE __paimon_bucket = 7 AND __paimon_partition.p1 = 1").columns == columns
    store.sql("CREATE VIEW v AS SELECT *, __paimon_bucket AS b FROM t")
    assert answers(store, "SELECT b FROM v WHERE c1 = 3") == [(0,)]
    store.sql("INSERT INTO t SELECT * FROM t WHERE __paimon_partition.p2 = 'y'")
    assert answers(store, "SELECT count(*) FROM t") == [(4,)]


def test_a_table_with_a_key(store):
    store.sql("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '3')")
    store.sql("INSERT INTO t SELECT id, 'a' FROM range(9)")
    assert len({row[0] for row in answers(store, "SELECT __paimon_file_path FROM t")}) == 3
    store.sql("INSERT INTO t SELECT id, 'b' FROM range(3, 12)")
    query = "SELECT __paimon_bucket AS b, count(*), min(v) FROM t GROUP BY ALL"
    assert sum(row[1] for row in answers(store, query)) == 12
    by_bucket = dict(answers(store, "SELECT bucket, record_count FROM t$buckets"))
    assert by_bucket == {row[0]: row[1] for row in answers(store, query)}
    with pytest.raises(SqlError, match="merged from several files"):
        store.sql("SELECT __paimon_row_index FROM t")
    store.sql("CALL sys.compact(table => 't')")
    assert len(answers(store, "SELECT *, __paimon_row_index FROM t")) == 12


def test_plain_tables_have_no_hidden_rows_and_reserve_the_names(store):
    store.sql("CREATE TABLE t (id INT)")
    assert answers(store, f"SELECT {ALL} FROM t") == []
    with pytest.raises(SqlError, match="__paimon_bucket"):
        store.sql("SELECT __paimon_bucket FROM range(3)")
    with pytest.raises(SchemaError, match="reserved"):
        store.sql("CREATE TABLE u (__paimon_bucket INT)")


def test_statements_that_change_rows(store):
    store.sql("CREATE TABLE t (id INT, v INT, p INT) PARTITIONED BY (p)")
    store.sql("INSERT INTO t VALUES (1, 1, 1), (2, 2, 1), (3, 3, 2)")
    store.sql("UPDATE t SET v = 10 + __paimon_row_index WHERE __paimon_partition.p = 1 AND t.__paimon_row_index = 1")
    store.sql("DELETE FROM t AS x WHERE x.__paimon_bucket = 0 AND x.__paimon_partition.p = 2")
    query = "SELECT * FROM t ORDER BY id"
    assert answers(store, query) == [(1, 1, 1), (2, 11, 1)]
    store.sql(
        "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id AND t.__paimon_bucket = 0"
        " WHEN MATCHED THEN UPDATE SET v = -1 WHEN NOT MATCHED BY SOURCE AND __paimon_partition.p = 1 THEN DELETE"
    )
    assert answers(store, query) == [(1, -1, 1)]
    store.sql("ALTER TABLE t SET TBLPROPERTIES ('retractions' = 'auto')")
    store.sql("INSERT INTO t (_row_kind, id, v, p) VALUES ('+I', 5, 5, 1), ('-D', 1, -1, 1)")
    store.sql("UPDATE t SET v = 6 WHERE __paimon_bucket = 0")
    assert answers(store, query) == [(5, 6, 1)]
    store.sql("CREATE TABLE k (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '3')")
    store.sql("INSERT INTO k SELECT id, 0 FROM range(9)")
    first = answers(store, "SELECT id FROM k WHERE __paimon_bucket = 1 ORDER BY id")
    store.sql("UPDATE k SET v = 1 WHERE __paimon_bucket = 1")
    assert answers(store, "SELECT id FROM k WHERE v = 1 ORDER BY id") == first != []
    with pytest.raises(SqlError, match="merged from several files"):
        store.sql("DELETE FROM k WHERE __paimon_row_index = 0")


def test_names_of_the_engine_are_reserved(store):
    for name in ("__tablestore_file", "__TABLESTORE_x"):
        with pytest.raises(SchemaError, match="reserved"):
            store.sql(f"CREATE TABLE u (id INT, {name} INT)")
    store.sql("CREATE TABLE u (id INT, __bucket INT, __row_kind INT, __row INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO u VALUES (1, 1, 1, 1), (2, 2, 2, 2)")
    store.sql("UPDATE u SET __bucket = 7, __row = 7 WHERE id = 2")
    assert answers(store, "SELECT * FROM u ORDER BY id") == [(1, 1, 1, 1), (2, 7, 2, 7)]
    found = answers(store, "SELECT _row_kind, id, __row FROM table_changes('u', 1) ORDER BY __row")
    assert found == [("-U", 2, 2), ("+U", 2, 7)]
