"""A query that joins a large keyed table with a small one looks its rows up, with the answers of plain tables."""

from __future__ import annotations

import pytest
from support.reads import recorded_reads

pytestmark = pytest.mark.spark

QUERIES = [
    "select t.* from big t join few s on t.id = s.x and t.line = s.y",
    "select s.x, t.name from few s left join big t on t.id = s.x",
    "select sum(t.v), count(*) from few s, big t where t.id = s.x and t.v % 3 = 0",
    """with s as (select x as k, y from few where y is not null), t as (select id, v from big where v > 10)
    select s.y, t.v from s join t on s.k = t.id""",
    "select s.x from few s left anti join big t on t.id = s.x and t.line = s.y",
    """with s as (select * from few)
    select t.id, s2.y from big t join s s1 on t.id = s1.x left join s s2 on t.line = s2.y and s2.x = 7""",
    "select s.x, md5(to_json(struct(*))), identifier('v') from big t join few s on t.id = s.x",
    "from big t join few s on t.id = s.x",
    "select name, v from big where (id, line) in (select x, y from few)",
]


def test_rows_of_few_keys(store, monkeypatch):
    monkeypatch.setattr("tablestore_engine.operation.formats.parquet_file.PAGE_ROWS", 50)
    store.execute(
        "CREATE TABLE big (PRIMARY KEY (id, line) NOT ENFORCED) WITH ('bucket' = '2', 'bucket-key' = 'id') AS"
        " SELECT cast(id AS int) AS id, cast(id % 3 AS int) AS line, 'n' || id AS name, id AS v FROM range(4000)"
    )
    store.execute("INSERT INTO big VALUES (7, 1, 'new', -1), (9000, 0, 'new', 12)")
    store.execute("DELETE FROM big WHERE id = 8")
    store.execute("CREATE TABLE few (x BIGINT, y INT)")
    store.execute("INSERT INTO few VALUES (7, 1), (8, 2), (9, 1), (9000, 0), (NULL, 1), (99999999999, 1), (7, 1)")
    expected = {}
    for query in QUERIES:
        store.read("big").createOrReplaceTempView("plain_big")
        store.read("few").createOrReplaceTempView("plain_few")
        text = query.replace(" big", " plain_big").replace(" few", " plain_few")
        expected[query] = sorted(map(repr, (tuple(row) for row in store.spark.sql(text).collect())))
    reads = recorded_reads(monkeypatch)
    for query, rows in expected.items():
        reads.clear()
        assert sorted(map(repr, (tuple(row) for row in store.sql(query).collect()))) == rows, query
        assert reads["big"].scans == [], f"Spark scanned the table: {query}"
        assert 0 < reads["big"].rows < 2_000, query
    reads.clear()
    store.execute(f"CREATE VIEW v AS {QUERIES[-1]}")
    assert store.sql("SELECT * FROM (SELECT * FROM v) WHERE false LIMIT 0").columns == ["name", "v"]
    assert reads["big"].rows == 0, "only the names of columns are asked for"
    store.execute("INSERT INTO few SELECT id, 0 FROM range(200)")
    store.sql(QUERIES[0]).collect()
    assert reads["big"].rows == 0, "most pages hold one of so many keys"
