"""Files that a query skips by constants which Spark rounds before it compares them."""

from __future__ import annotations

import pytest
from support.spark_rows import in_order, rows

pytestmark = pytest.mark.spark

LONG = "1." + "0" * 30
CONDITIONS = [
    f"id = {LONG}1",
    f"id <=> {LONG}1",
    f"id in ({LONG}1, 7)",
    f"id <= {LONG}1",
    f"n = {LONG}1",
    f"e = 1.5{'0' * 33}1",
    f"e in (1.5{'0' * 33}1)",
    f"e between 1.5{'0' * 33}1 and 1.6",
    "id in (1.5, 12345678901234567890123456789012345678)",  # one type for the list
    f"id in (5, {'9' * 20}, 1.{'0' * 17}1)",
    "e = 1.500000000000000000",
    "id = 2.0",
]


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (e, id) NOT ENFORCED"])
def test_answers_are_those_of_spark(store, key):
    options = "'bucket' = '3', " if key else ""
    store.execute(
        f"CREATE TABLE t (id INT, n BIGINT, e DECIMAL(38, 18){key})"
        f" WITH ({options}'file-index.bloom-filter.columns' = 'id,n')"
    )
    for number in range(3):
        store.execute(f"INSERT INTO t VALUES ({number}, {number}, {number}.5)")
    store.read("t").coalesce(1).createOrReplaceTempView("plain")
    # Each is a scan of its own; one query of them is planned and started once.
    ours, plain = (
        " UNION ALL ".join(f"SELECT {n} AS n, id FROM {table} WHERE {one}" for n, one in enumerate(CONDITIONS))
        for table in ("t", "plain")
    )
    assert rows(store, ours) == in_order(store.spark.sql(plain).collect()), list(enumerate(CONDITIONS))
