"""Frames that a session keeps."""

from __future__ import annotations

import pytest


@pytest.mark.spark
def test_a_frame_is_never_older_than_its_table(store):
    def rows():
        return sorted(map(tuple, store.sql("SELECT * FROM t").collect()))

    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    assert rows() == []
    store.execute("INSERT INTO t VALUES (1, 1)")
    assert rows() == rows() == [(1, 1)]
    store.execute("INSERT INTO t VALUES (1, 2)")
    assert rows() == [(1, 2)]
    store.execute("ALTER TABLE t ADD COLUMN w INT")
    assert rows() == [(1, 2, None)]
    store.execute("DROP TABLE t")
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (7, 7)")
    assert rows() == [(7, 7)]
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 5 AS other")
    assert rows() == [(5,)]
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 6 AS other")
    assert rows() == [(6,)]
    both = "SELECT a.other, b.other FROM t a JOIN t b ON a.other = b.other JOIN t VERSION AS OF 2 c ON true"
    assert list(map(tuple, store.sql(both).collect())) == [(6, 6)]
