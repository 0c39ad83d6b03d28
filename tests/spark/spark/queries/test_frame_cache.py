"""Frames that a session keeps."""

from __future__ import annotations

import pytest
from support.spark_rows import rows


@pytest.mark.spark
def test_a_frame_is_never_older_than_its_table(store):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    assert rows(store) == []
    store.execute("INSERT INTO t VALUES (1, 1)")
    assert rows(store) == rows(store) == [(1, 1)]
    store.execute("INSERT INTO t VALUES (1, 2)")
    assert rows(store) == [(1, 2)]
    store.execute("ALTER TABLE t ADD COLUMN w INT")
    assert rows(store) == [(1, 2, None)]
    store.execute("DROP TABLE t")
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (7, 7)")
    assert rows(store) == [(7, 7)]
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 5 AS other")
    assert rows(store) == [(5,)]
    store.execute("CREATE OR REPLACE TABLE t AS SELECT 6 AS other")
    assert rows(store) == [(6,)]
    both = "SELECT a.other, b.other FROM t a JOIN t b ON a.other = b.other JOIN t VERSION AS OF 2 c ON true"
    assert rows(store, both) == [(6, 6)]
