"""With `spark.sql.caseSensitive`, a table may have columns whose names differ in case only; without, it is refused."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pytest
from support.spark_rows import answers, stored

from tablestore_engine.errors import ColumnNotFound, SchemaError, UserError
from tablestore_engine.schema.table.predicate import Compare

pytestmark = pytest.mark.spark

LAYOUTS = {
    "plain": "",
    "marked": "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')",
    "keyed": "PARTITIONED BY (Id) TBLPROPERTIES ('primary-key' = 'id,Id', 'bucket' = '2')",
}


@pytest.fixture
def sensitive(store):
    """A store whose session distinguishes names by their case."""
    store.spark.conf.set("spark.sql.caseSensitive", "true")
    return store


@pytest.mark.parametrize("layout", [pytest.param("plain", marks=pytest.mark.soak), "marked", "keyed"])
def test_rows_are_written_changed_and_skipped(sensitive, layout):
    store = sensitive
    store.sql(f"CREATE TABLE t (id INT, Id STRING, v INT, V STRING) {LAYOUTS[layout]}")
    store.sql("INSERT INTO t VALUES (1, 'a', 10, 'x'), (2, 'b', 20, 'y')")
    store.sql("INSERT INTO t (V, v, Id, id) VALUES ('z', 30, 'c', 3)")
    store.sql("INSERT INTO t BY NAME SELECT 40 AS v, 'w' AS V, 4 AS id, 'd' AS Id")
    assert (
        answers(store, "SELECT id FROM t WHERE Id = 'c'") == answers(store, "SELECT id FROM t WHERE v = 30") == [(3,)]
    )
    table = store.table("t")
    read = {value: len(table.scan(predicate=Compare("Id", "=", value)).files) for value in ("c", "nothing")}
    assert read == {"c": 1, "nothing": 0}
    store.sql("UPDATE t SET V = 'new', v = v + 1 WHERE Id = 'a'")
    store.sql("DELETE FROM t WHERE Id = 'b'")
    store.sql(
        "MERGE INTO t USING (SELECT 3 AS id, 'c' AS Id, 33 AS v, 'm' AS V UNION ALL SELECT 5, 'e', 50, 'n') s "
        "ON t.id = s.id AND t.Id = s.Id WHEN MATCHED THEN UPDATE SET v = s.v, V = s.V "
        "WHEN NOT MATCHED THEN INSERT (V, v, Id, id) VALUES (s.V, s.v, s.Id, s.id)"
    )
    store.sql(
        "MERGE INTO t USING (SELECT 4 AS id, 'd' AS Id, 44 AS v, 'star' AS V) s ON t.id = s.id AND t.Id = s.Id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    expected = [(1, "a", 11, "new"), (3, "c", 33, "m"), (4, "d", 44, "star"), (5, "e", 50, "n")]
    assert answers(store, "SELECT * FROM t ORDER BY id") == expected
    arrow = table.to_arrow().sort_by("id")
    assert arrow.column_names == ["id", "Id", "v", "V"] and arrow.column("V").to_pylist()[0] == "new"


WRONG = {
    "TRUNCATE TABLE t PARTITION (P = 'a')": "P",
    "INSERT INTO t (ID, v) VALUES (1, 2)": "ID",
    "INSERT INTO t (id, V) SELECT 1, 2": "V",
    "INSERT INTO t BY NAME SELECT 1 AS id, 2 AS v, 3 AS ID": "ID",
    "INSERT INTO t (id, s) SELECT 1, named_struct('X', 1, 'l', array(named_struct('y', 1)))": "s.X",
    "INSERT INTO t BY NAME SELECT 1 AS id, named_struct('x', 1, 'l', array(named_struct('Y', 1))) AS s": "s.l.Y",
    "INSERT OVERWRITE t PARTITION (P = 'a') SELECT 1, 2, null": "P",
    "INSERT INTO t BY NAME REPLACE WHERE id = 1 SELECT 1 AS id, 2 AS V": "V",
    "UPDATE t SET V = 1": "V",
    "UPDATE t SET s.X = 1": "s.X",
    "UPDATE t SET S.x = 1": "S.x",
    "UPDATE t SET s = named_struct('X', 1, 'l', null)": "s.X",
    "MERGE INTO t USING q ON t.id = q.id WHEN MATCHED THEN UPDATE SET V = 1": "V",
    "MERGE INTO t USING q ON t.id = q.id WHEN NOT MATCHED THEN INSERT (id, ID) VALUES (1, 2)": "ID",
    "MERGE INTO t USING (SELECT 1 AS id, 2 AS V, 'a' AS p, null AS s) q ON t.id = q.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *": "V",
}
"""Statements, and the name in each that the table has in lower case."""


def test_a_written_column_is_named_as_it_is_spelled(store):
    made = "TABLE t (id INT, v INT, s STRUCT<x: INT, l: ARRAY<STRUCT<y: INT>>>, p STRING) PARTITIONED BY (p)"
    store.sql(f"CREATE {made}")
    store.sql("INSERT INTO t VALUES (1, 2, null, 'a')")
    store.sql("CREATE TEMPORARY VIEW q AS SELECT 1 AS id")
    frame = store.spark.sql("SELECT 1 AS id, 2 AS V, null AS s, 'a' AS p")
    arrow = pa.table({"id": [1], "V": [2], "s": [None], "p": ["a"]})
    writes = {one: partial(store.sql, one) for one in WRONG}
    writes |= {
        "frame": partial(store.write, "t", frame),
        "arrow": lambda: store.table("t").write(arrow),
        "batches": lambda: store.table("t").write(iter(arrow.to_batches())),
    }
    store.spark.conf.set("spark.sql.caseSensitive", "true")
    for what, write in writes.items():
        given = WRONG.get(what, "V")
        with pytest.raises(ColumnNotFound, match=f"Column '{given}' does not exist.*Did you mean '{given.lower()}'"):
            write()
            pytest.fail(f"written: {what}")
    assert stored(store) == [(1, 2, None, "a")]
    store.write("t", frame, options={"write.merge-schema": True})
    assert answers(store, "SELECT v, V FROM t ORDER BY v NULLS LAST") == [(2, None), (None, 2)]
    store.spark.conf.set("spark.sql.caseSensitive", "false")
    store.sql(f"CREATE OR REPLACE {made}")
    for what, write in writes.items():
        if WRONG.get(what) != "ID":
            write()
    assert {row[1] for row in stored(store)} == {2}


@pytest.mark.parametrize(("on", "set_"), [("k.ID = s.id", "v = s.v"), ("k.id = s.id", "V = s.v")])
def test_a_merge_that_is_an_upsert_names_columns_as_they_are_spelled(store, on, set_):
    store.sql("CREATE TABLE k (id INT, v INT) TBLPROPERTIES ('primary-key' = 'id')")
    merge = f"MERGE INTO k USING (SELECT 1 AS id, 2 AS v) s ON {on} WHEN MATCHED THEN UPDATE SET {set_} "
    merge += "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    store.spark.conf.set("spark.sql.caseSensitive", "true")
    with pytest.raises(UserError, match=r"ID.* cannot be resolved|Column 'V' does not exist.*Did you mean 'v'"):
        store.sql(merge)
    store.spark.conf.set("spark.sql.caseSensitive", "false")
    store.sql(merge)
    assert stored(store, "k") == [(1, 2)]


def test_files_in_which_names_are_ambiguous_are_refused(sensitive):
    store = sensitive
    store.sql("CREATE TABLE t (id INT, Id STRING, v INT)")
    store.sql("INSERT INTO t VALUES (1, 'a', 2)")
    store.sql("ALTER TABLE t RENAME COLUMN id TO k")
    store.sql("INSERT INTO t VALUES (3, 'b', 4)")
    store.spark.conf.set("spark.sql.caseSensitive", "false")
    for query in ("SELECT * FROM t", "SELECT v FROM t WHERE k = 1"):
        with pytest.raises(
            SchemaError, match=r"Columns 'id' and 'Id' of older files of table 'default.t' .* SET spark"
        ):
            store.sql(query).collect()
    assert answers(store, "SELECT v FROM t WHERE k = 3") == [(4,)]
    store.sql("ALTER TABLE t DROP COLUMNS (k, Id)")
    assert answers(store, "SELECT * FROM t ORDER BY v") == [(2,), (4,)]


def test_columns_are_altered_and_shown(sensitive):
    store = sensitive
    store.sql("CREATE TABLE t (id INT, Id STRING)")
    for change in ("ADD COLUMN v INT", "ADD COLUMN V INT", "RENAME COLUMN V TO ID", "DROP COLUMN id",
                   "ALTER COLUMN ID COMMENT 'upper'", "ALTER COLUMN ID FIRST"):  # fmt: skip
        store.sql(f"ALTER TABLE t {change}")
    assert answers(store, "DESCRIBE t") == [("ID", "int", "upper"), ("Id", "string", None), ("v", "int", None)]
    assert answers(store, "DESCRIBE t Id")[1] == ("data_type", "string")
    store.sql("INSERT INTO t VALUES (1, 'a', 2), (3, 'b', 4)")
    store.sql("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")
    assert ("max", "3") in answers(store, "DESCRIBE EXTENDED t ID")
    assert answers(store, "SELECT max_value_stats FROM `t$files`") == [("{ID=3, Id=b, v=4}",)]
    assert answers(store, "SELECT Id, ID FROM `t$audit_log` WHERE ID = 3") == [("b", 3)]
    store.sql("CREATE VIEW seen AS SELECT * FROM t")
    assert answers(store, "SELECT ID FROM seen WHERE Id = 'b'") == [(3,)]
    store.sql("CREATE TABLE copy AS SELECT ID, Id FROM t")
    store.sql("ALTER TABLE copy REPLACE COLUMNS (ID INT, Id STRING, iD INT)")
    store.sql("INSERT INTO copy /*+ OPTIONS('write.merge-schema' = 'true') */ BY NAME "
              "SELECT 5 AS ID, 'e' AS Id, 6 AS iD, 7 AS id")  # fmt: skip
    assert answers(store, "SELECT * FROM copy WHERE ID > 2 ORDER BY ID") == [(3, "b", None, None), (5, "e", 6, 7)]
    store.sql("CREATE TABLE s (a STRUCT<x: INT, X: STRING>)")
    store.sql("INSERT INTO s VALUES (named_struct('x', 1, 'X', 'one'))")
    store.sql("UPDATE s SET a.X = 'two'")
    assert answers(store, "SELECT a.x, a.X FROM s") == [(1, "two")]


def test_a_column_hides_only_its_own_name_of_a_star(sensitive):
    """The query's `Id` is `x`, and its `ID` that of the table: only files with `ID` = 6 are read."""
    sensitive.sql("CREATE TABLE t (x INT, ID INT)")
    sensitive.sql("INSERT INTO t VALUES (1, 6)")
    assert answers(sensitive, "SELECT * FROM (SELECT x AS Id, t.* FROM t) WHERE ID = 6") == [(1, 1, 6)]


def test_other_sessions_refuse_its_answers(sensitive):
    store = sensitive
    store.sql("CREATE TABLE t (id INT, Id STRING)")
    store.sql("INSERT INTO t VALUES (1, 'a')")
    store.spark.conf.set("spark.sql.caseSensitive", "false")
    for statement in ("SELECT Id FROM t", "INSERT INTO t VALUES (1, 'b')", "UPDATE t SET id = 1", "DELETE FROM t",
                      "SELECT * FROM `t$audit_log`", "CALL sys.compact(table => 't')"):  # fmt: skip
        with pytest.raises(SchemaError, match=r"Columns 'id' and 'Id' of table 'default.t' differ in case only.*SET"):
            store.sql(statement)
    for statement in ("CREATE TABLE u (a INT, A INT)", "CREATE TABLE u AS SELECT 1 AS a, 2 AS A",
                      "CREATE VIEW u AS SELECT 1 AS a, 2 AS A"):  # fmt: skip
        with pytest.raises(SchemaError, match=r"Two columns are named 'A' .the other one 'a'..*caseSensitive = true"):
            store.sql(statement)
    store.spark.conf.set("spark.sql.caseSensitive", "true")
    store.sql("CREATE TABLE inside (id INT, a STRUCT<x: INT, X: INT>)")
    store.spark.conf.set("spark.sql.caseSensitive", "false")
    for statement in ("SELECT id FROM inside", "INSERT INTO inside VALUES (1, null)", "DELETE FROM inside"):
        with pytest.raises(SchemaError, match=r"Columns 'a.x' and 'a.X' of table 'default.inside' differ in case"):
            store.sql(statement)
    store.sql("CREATE TABLE v (id INT)")
    named = "SELECT 1 AS id, named_struct('x', 1, 'X', 2) AS a"
    merged = f"INSERT INTO v /*+ OPTIONS('write.merge-schema' = 'true') */ BY NAME {named}"
    for statement in (f"CREATE TABLE u AS {named}", merged):
        with pytest.raises(SchemaError, match=r"Two fields are named 'a.X'"):
            store.sql(statement)
    with pytest.raises(SchemaError, match=r"Two columns are named 'ID'"):
        store.create_table("u", columns=[("id", "int"), ("ID", "int")])
    with pytest.raises(SchemaError, match="There is a column 'id' already"):
        store.sql("ALTER TABLE t ADD COLUMN ID INT")
    assert answers(store, "SHOW COLUMNS IN t") == [("id",), ("Id",)]
    assert answers(store, "SELECT record_count FROM `t$files`") == [(1,)]
