"""Parameters in statements that Spark runs."""

from __future__ import annotations

import pytest


@pytest.mark.spark
def test_statements(store):
    store.sql("CREATE TABLE IDENTIFIER(:name) (id INT, p STRING) PARTITIONED BY (p)", {"name": "default.t"})
    for number in range(3):
        store.sql("INSERT INTO t PARTITION (p = :p) SELECT :n", {"p": f"it's {number}", "n": number})
    store.execute("UPDATE t SET id = ? WHERE p = ?", args=[10, "it's 1"])
    rows = store.sql(
        "SELECT id, p, :x AS x FROM IDENTIFIER(:t) WHERE id >= :n ORDER BY id", {"t": "t", "n": 2, "x": -1.5}
    )
    assert [tuple(row) for row in rows.collect()] == [(2, "it's 2", -1.5), (10, "it's 1", -1.5)]
    assert store.sql("SELECT count(*) FROM t VERSION AS OF :v", {"v": 2}).first()[0] == 2
    store.execute("INSERT OVERWRITE t PARTITION (p = :p) SELECT 5", args={"p": "it's 2"})
    assert [row.id for row in store.sql("SELECT id FROM t ORDER BY id").collect()] == [0, 5, 10]
