"""Default values of columns: what rows get for columns that a statement leaves out, as in Spark's own tables."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.spark_rows import rows

from tablestore_engine.errors import ColumnNotFound, SchemaError, SqlError
from tablestore_engine.sql.pinned_queries import temporary_objects

pytestmark = pytest.mark.spark

COLUMNS = """id INT, n INT DEFAULT 5, x DECIMAL(6, 2) DEFAULT 1 + 0.5, t STRING DEFAULT 'it is',
    ok BOOLEAN DEFAULT true, d DATE DEFAULT DATE'2024-02-29', nothing INT,
    at TIMESTAMP_NTZ DEFAULT TIMESTAMP_NTZ'2024-02-29 01:02:03',
    up STRING DEFAULT upper('abc'), a ARRAY<INT> DEFAULT array(1, 2), m MAP<STRING, INT> DEFAULT map('k', 1),
    s STRUCT<x: INT, y: STRING> DEFAULT named_struct('x', 1, 'y', 'z')"""
STATEMENTS = (
    "INSERT INTO {t} (id) VALUES (1)",
    "INSERT INTO {t} (id, n, t) SELECT 2, 20, NULL",
    "INSERT INTO {t} (t, id, n) VALUES (DEFAULT, 3, DEFAULT), ('x', 4, DEFAULT)",
    "INSERT INTO {t} BY NAME SELECT 5 AS id, array(9) AS a",
    "INSERT INTO {t} (t, id, n) SELECT DEFAULT, 7, DEFAULT",
)


@pytest.fixture
def sparks_own(store, tmp_path):
    """A Parquet table of Spark's own with the same columns."""
    spark = store.spark
    spark.sql(f"CREATE TABLE spark_catalog.default.own ({COLUMNS}) USING parquet LOCATION '{tmp_path}/own'")
    yield spark
    spark.sql("DROP TABLE spark_catalog.default.own")


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_rows_get_defaults_as_in_spark(store, sparks_own, key):
    store.execute(f"CREATE TABLE t ({COLUMNS}{key})")
    for text in STATEMENTS:
        store.execute(text.format(t="t"))
        sparks_own.sql(text.format(t="spark_catalog.default.own"))
    expected = sorted(tuple(row) for row in sparks_own.sql("SELECT * FROM spark_catalog.default.own").collect())
    assert [repr(row) for row in rows(store)] == [repr(row) for row in expected]
    store.execute("UPDATE t SET n = DEFAULT, t = DEFAULT, nothing = DEFAULT, a = DEFAULT WHERE id = 2")
    store.execute(
        "MERGE INTO t USING (SELECT id FROM VALUES (4), (6) AS v(id)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET t = DEFAULT WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, DEFAULT)"
    )
    found = {row[0]: row[1:] for row in rows(store)}
    assert found[2] == found[1] == found[6]
    assert found[4] == found[3]


def test_spark_computes_a_new_default_without_a_job_or_a_second_plan(store, monkeypatch):
    asked = []
    monkeypatch.setattr(temporary_objects, "variables_of", lambda _, query: asked.append(query) or [])
    store.execute("CREATE TABLE t (id INT)")
    context = store.spark.sparkContext
    context.setJobGroup("a new default", "")
    try:
        store.execute(
            "ALTER TABLE t ADD COLUMNS (a STRING DEFAULT upper('a'), b INT DEFAULT CASE WHEN 1 > 2 THEN 3 END)"
        )
        assert (asked, list(context.statusTracker().getJobIdsForGroup("a new default"))) == ([], [])
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


def test_later_defaults_are_for_later_rows(store):
    store.execute("CREATE TABLE t (id INT, v INT DEFAULT 1)")
    store.execute("INSERT INTO t (id) VALUES (1)")
    store.execute("ALTER TABLE t ADD COLUMN w STRING DEFAULT 'w'")
    store.execute("ALTER TABLE t ALTER COLUMN v SET DEFAULT 1 + 1")
    store.execute("INSERT INTO t (id) VALUES (2)")
    store.execute("ALTER TABLE t ALTER COLUMN v DROP DEFAULT")
    store.write("t", store.spark.sql("SELECT 3 AS id, CAST(NULL AS INT) AS v"))
    store.table("t").write(pa.table({"id": [4], "v": [4]}))
    assert rows(store) == [(1, 1, None), (2, 2, "w"), (3, None, "w"), (4, 4, "w")]
    store.execute("ALTER TABLE t ALTER COLUMN v SET DEFAULT 3 * 3")
    with pytest.raises(SchemaError, match="'v' is missing"):
        store.table("t").write(pa.table({"id": [4]}))
    for text, error in (
        ("ALTER COLUMN v SET DEFAULT nope(1)", SqlError),
        ("ALTER COLUMN v SET DEFAULT id + 1", SqlError),
        ("ALTER COLUMN v SET DEFAULT concat('a', 'b')", SqlError),
        ("ALTER COLUMN nope SET DEFAULT 1", ColumnNotFound),
    ):
        with pytest.raises(error):
            store.execute(f"ALTER TABLE t {text}")
    assert store.table("t").schema.field("v").default_value == "3 * 3"


NESTED = "STRUCT<a: INT, b: STRUCT<c: INT, d: STRING>>"


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (id) NOT ENFORCED"])
def test_fields_of_structs_are_assigned(store, key):
    store.execute(f"CREATE TABLE t (id INT, s {NESTED}{key})")
    store.execute("INSERT INTO t VALUES (1, struct(1, struct(10, 'x'))), (2, NULL), (3, struct(3, NULL))")
    store.execute("UPDATE t SET s.a = id + 100, t.s.b.c = s.a WHERE id < 3")
    answer = "SELECT id, s.a, s.b.c, s.b.d FROM t"
    assert rows(store, answer) == [(1, 101, 1, "x"), (2, 102, None, None), (3, 3, None, None)]
    store.execute(
        "MERGE INTO t x USING (SELECT 3 AS k) y ON x.id = y.k "
        "WHEN MATCHED THEN UPDATE SET x.s.b = named_struct('d', 'new', 'c', k), s.a = DEFAULT"
    )
    assert rows(store, answer)[2] == (3, None, 3, "new")
    for text, error, message in (
        ("s = NULL, s.a = 1", SchemaError, "part of the other"),
        ("s.b.c = 1, s.b = NULL", SchemaError, "part of the other"),
        ("s.a = 1, s.A = 2", SchemaError, "'s.a' is assigned twice"),
        ("s.nope = 1", ColumnNotFound, "no field 'nope'"),
        ("s.a.b = 1", SchemaError, "'s.a' has no field 'b'"),
        ("nope.a = 1", ColumnNotFound, "nope"),
    ):
        with pytest.raises(error, match=message):
            store.execute(f"UPDATE t SET {text}")
