"""CACHE TABLE keeps the rows of a table, and never gives older ones than a query without it would."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SqlError

pytestmark = pytest.mark.spark


@pytest.fixture
def cached(store):
    store.sql("CREATE TABLE t (id INT, v STRING)")
    store.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    return store


def reads_memory(store, query="SELECT id FROM t WHERE id > 1"):
    return "InMemoryTableScan" in store.sql(f"EXPLAIN {query}").first()[0]


def ids(store, query="SELECT id FROM t ORDER BY id"):
    return [row[0] for row in store.sql(query).collect()]


@pytest.mark.parametrize("text", ["CACHE TABLE default.t", "CACHE LAZY TABLE t OPTIONS ('storageLevel' 'DISK_ONLY')"])
def test_queries_read_the_kept_rows_until_uncache(cached, text):
    assert not reads_memory(cached)
    cached.sql(text)
    assert reads_memory(cached)
    assert ids(cached, "SELECT id FROM t WHERE id > 1") == [2]
    cached.sql("UNCACHE TABLE t")
    assert not reads_memory(cached)
    cached.sql("UNCACHE TABLE IF EXISTS t")


def test_a_write_replaces_the_kept_rows(cached):
    cached.sql("CACHE TABLE t")
    cached.sql("INSERT INTO t VALUES (3, 'c')")
    cached.sql("DELETE FROM t WHERE id = 1")
    assert ids(cached) == [2, 3]
    assert reads_memory(cached)
    cached.sql("CLEAR CACHE")
    assert not reads_memory(cached)
    assert ids(cached) == [2, 3]


def test_views_and_unknown_levels_are_not_cached(cached):
    cached.sql("CREATE VIEW w AS SELECT * FROM t")
    with pytest.raises(SqlError, match="is a view"):
        cached.sql("CACHE TABLE w")
    with pytest.raises(SqlError, match="'FAST' is not a storage level"):
        cached.sql("CACHE TABLE t OPTIONS ('storageLevel' = 'FAST')")
    cached.sql("CREATE TABLE empty (a INT)")
    cached.sql("CACHE TABLE empty")
    assert ids(cached, "SELECT a FROM empty") == []
