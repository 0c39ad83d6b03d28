"""The number of the clause that applies, by a lateral alias and by a lateral subquery."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.row_level import execute_merge

pytestmark = pytest.mark.spark

MERGES = {
    # Each kind of clause, and functions in the values.
    "functions": """MERGE INTO t USING (VALUES (1), (6)) q(id) ON t.id = q.id
        WHEN MATCHED AND upper(t.s) = 'X' THEN UPDATE SET s = upper(t.s)
        WHEN NOT MATCHED THEN INSERT (id, s) VALUES (q.id, concat('n', q.id))
        WHEN NOT MATCHED BY SOURCE AND t.id = 2 THEN UPDATE SET s = coalesce(nullif(t.s, 'y'), 'w')""",
    "subqueries": """MERGE INTO t USING (VALUES (2), (3), (7)) q(id) ON t.id = q.id
        WHEN MATCHED AND EXISTS (SELECT 1 FROM u WHERE u.id = t.id) THEN UPDATE SET s = upper(concat(t.s, 'e'))
        WHEN MATCHED THEN DELETE""",
}
FOUND = {"functions": [(1, "X"), (2, "w"), (3, "z"), (6, "n6")], "subqueries": [(1, "x"), (3, "ZE")]}


@pytest.mark.parametrize("merge", MERGES)
def test_clauses_as_spark_connect_is_given_them(store, monkeypatch, merge):
    """Spark Connect itself is run by `make shared`."""
    store.execute("CREATE TABLE t (id INT, s STRING)")
    store.execute("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    store.execute("CREATE TABLE u AS SELECT 3 AS id")
    monkeypatch.setattr(execute_merge, "is_remote", lambda _: True)
    store.execute(MERGES[merge])
    assert sorted(map(tuple, store.sql("SELECT * FROM t").collect())) == FOUND[merge]
