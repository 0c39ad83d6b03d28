"""0.0 and -0.0 are equal to every filter, whatever skips rows of a file. Spark answers rightly on rows in memory."""

from __future__ import annotations

from itertools import product

import pytest
from support.spark_rows import in_order, rows
from support.tables import read, write

pytestmark = pytest.mark.spark

FILES = ("-0.0", "0.0", "1.0, -0.0", "-1.0, 0.0, 1.0", "NaN, -0.0", "NaN, 0.0, -1.0, null", "-0.0, 0.0", "2.0, 3.0")
CONDITIONS = ("= 0.0", "= {kind}('-0.0')", "<=> -0.0", ">= 0D", "<= {kind}('-0.0')", "> {kind}('-0.0')", "<> 0",
              "IN ({kind}('-0.0'), 7)", "BETWEEN 0.0 AND 0.5")  # fmt: skip
NESTED = ("= 0D", "= {kind}('-0.0')")


def filled(store, file_format, kind, key):
    """A table of one file for each list of `FILES`, and a view of the same rows in memory."""
    primary = ", PRIMARY KEY (id) NOT ENFORCED" if key else ""
    options = f"'file.format' = '{file_format}', 'write-only' = 'true'" + (", 'bucket' = '1'" if key else "")
    store.sql(f"CREATE TABLE t (id INT, c {kind}, s STRUCT<x: {kind}>{primary}) WITH ({options})")
    table, given = store.table("t"), []
    for file in FILES:
        values = [None if one == "null" else float(one) for one in file.split(", ")]
        found = [{"id": len(given) + i, "c": c, "s": {"x": c}} for i, c in enumerate(values)]
        write(table, found)
        given += found
    frame = store.spark.createDataFrame(given, f"id INT, c {kind}, s STRUCT<x: {kind}>")
    frame.createOrReplaceTempView("in_memory")


def ids(store, table, conditions):
    """The ids for which each condition is true: one query, with one pushed filter for each branch."""
    parts = [f"SELECT {i} AS n, id FROM {table} WHERE {one}" for i, one in enumerate(conditions)]
    return rows(store, " UNION ALL ".join(parts))


def wanted_ids(store, conditions):
    """The same of the rows in memory, where nothing is skipped."""
    found = store.sql(f"SELECT id, {', '.join(conditions)} FROM in_memory").collect()
    return in_order((n, id_) for id_, *answers in found for n, holds in enumerate(answers) if holds)


@pytest.mark.parametrize(
    ("file_format", "kind", "key"),
    [
        pytest.param(
            *one, marks=() if one in (("parquet", "FLOAT", False), ("orc", "DOUBLE", True)) else pytest.mark.soak
        )
        for one in product(("parquet", "orc"), ("FLOAT", "DOUBLE"), (False, True))
    ],
)
def test_zeros_are_equal_in_filters(store, file_format, kind, key):
    filled(store, file_format, kind, key)
    conditions = [f"c {one.format(kind=kind)}" for one in CONDITIONS]
    conditions += [f"s.x {one.format(kind=kind)}" for one in NESTED]
    wanted = wanted_ids(store, conditions)
    assert ids(store, "t", conditions) == wanted
    store.sql("CALL sys.compact(table => 't')")
    assert ids(store, "t", conditions) == wanted
    # The zeros that are read are those that were written.
    shown = "SELECT id, CAST(c AS STRING) AS c, CAST(s.x AS STRING) AS x FROM {}"
    assert rows(store, shown.format("t")) == rows(store, shown.format("in_memory"))


@pytest.mark.cover
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("key", [False, True], ids=["no key", "key"])
def test_zeros_are_equal_in_changes_of_rows(store, file_format, key):
    filled(store, file_format, "DOUBLE", key)
    zeros = [one.id for one in store.sql("SELECT id FROM in_memory WHERE c = 0").collect()]
    assert len(zeros) == 8
    store.sql("UPDATE t SET s = NULL WHERE c = double('-0.0')")
    assert sorted(one.id for one in store.sql("SELECT id FROM t WHERE s IS NULL").collect()) == zeros
    store.sql(
        "MERGE INTO t USING (SELECT double('-0.0') AS c) s ON t.c = s.c "
        "WHEN MATCHED THEN UPDATE SET s = named_struct('x', 7D) "
        "WHEN NOT MATCHED THEN INSERT (id, c) VALUES (99, s.c)"
    )
    assert sorted(one.id for one in store.sql("SELECT id FROM t WHERE s.x = 7").collect()) == zeros
    store.sql("DELETE FROM t WHERE c IN (0D)")
    left = [one.id for one in store.sql("SELECT id FROM in_memory WHERE c <> 0 OR c IS NULL").collect()]
    assert sorted(one.id for one in store.sql("SELECT id FROM t").collect()) == sorted(left)


@pytest.mark.cover
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("zero", ["0D", "double('-0.0')", "0.0", "0"])
def test_a_key_of_zero_is_found(store, kind, zero):
    store.sql(f"CREATE TABLE z (c {kind}, v INT, PRIMARY KEY (c) NOT ENFORCED) WITH ('bucket' = '4')")
    write(store.table("z"), [{"c": -0.0, "v": 1}])
    write(store.table("z"), [{"c": 0.0, "v": 2}, {"c": 1.0, "v": 3}])
    assert [tuple(one) for one in store.sql(f"SELECT v FROM z WHERE c = {zero}").collect()] == [(2,)]
    store.sql(f"UPDATE z SET v = 5 WHERE c = {zero}")
    store.sql(f"MERGE INTO z USING (SELECT {zero} AS c) s ON z.c = s.c WHEN MATCHED THEN UPDATE SET v = v + 1 "
              "WHEN NOT MATCHED THEN INSERT (c, v) VALUES (7D, 7)")  # fmt: skip
    assert sorted(row["v"] for row in read(store.table("z"))) == [3, 6]
    store.sql(f"DELETE FROM z WHERE c = {zero}")
    assert [row["v"] for row in read(store.table("z"))] == [3]
