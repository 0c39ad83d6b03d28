"""Functions in queries that are ours to answer."""

from __future__ import annotations

import pytest
from support.spark_rows import answers, rows

pytestmark = pytest.mark.spark


def test_the_current_database(store):
    store.execute("CREATE SCHEMA e")
    assert answers(store, "SELECT current_database()") == [("default",)]
    store.execute("USE e")
    query = "SELECT current_database(), concat(current_schema(), '!') AS c"
    assert answers(store, query) == [("e", "e!")]
    assert store.sql(query).columns == [store.spark.sql("SELECT current_database()").columns[0], "c"]
    store.execute("CREATE TABLE t (d STRING)")
    store.execute("INSERT INTO t SELECT current_database()")
    store.execute("UPDATE t SET d = concat(d, current_schema()) WHERE current_database() = 'e'")
    assert rows(store) == [("ee",)]
    store.execute("CREATE VIEW v AS SELECT d, current_database() AS now FROM t")
    store.execute("USE default")
    assert answers(store, "SELECT * FROM e.v") == [("ee", "default")]
