"""The rows that a query certainly has, by the footers of the files that it reads."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.write.rows_of_files import rows_at_least

pytestmark = pytest.mark.spark

MOST = 200


@pytest.mark.parametrize("kind", ["append", "keyed", "orc", "files"])
def test_a_bound_is_known_where_every_row_is_kept(store, tmp_path, kind):
    plain = str(tmp_path / "plain")
    store.spark.range(150).selectExpr("id", "id % 3 AS kind").coalesce(1).write.parquet(plain)
    options = {"append": "", "keyed": "(PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')",
               "orc": "WITH ('file.format' = 'orc')", "files": ""}[kind]  # fmt: skip
    store.execute(f"CREATE TABLE t {options} AS SELECT * FROM parquet.`{plain}`")
    source = f"parquet.`{plain}`" if kind == "files" else "t"
    expected = {
        "SELECT * FROM {t}": 150,
        "WITH s AS (SELECT * FROM {t}), r AS (SELECT upper(id) AS u, kind FROM s) SELECT * FROM r": 150,
        "SELECT *, row_number() OVER (PARTITION BY kind ORDER BY id) AS n FROM {t}": 150,
        "SELECT *, (SELECT max(id) FROM {t}) AS most FROM {t} ORDER BY kind": 150,
        "SELECT id FROM {t} LIMIT 500": 150,
        "SELECT id FROM {t} LIMIT 5": 0,
        "SELECT id FROM (SELECT id FROM {t} LIMIT 5)": 0,
        "SELECT id FROM {t} LIMIT 500 OFFSET 5": 0,
        "SELECT id FROM {t} WHERE kind = 1": 0,
        "SELECT kind, count(*) FROM {t} GROUP BY kind": 0,
        "SELECT DISTINCT kind FROM {t}": 0,
        "SELECT a.id FROM {t} a JOIN {t} b ON a.id = b.id + 100": 0,
        "SELECT explode(sequence(1, kind)) FROM {t}": 0,
        "SELECT 1 AS one": 0,
    }
    found = {sql: rows_at_least(store.sql(sql.replace("{t}", source)).limit(MOST), MOST) for sql in expected}
    assert found == expected


def test_the_bound_is_not_above_the_limit_and_no_file_counts_twice(store):
    store.execute("CREATE TABLE t AS SELECT id FROM range(150)")
    store.execute("INSERT INTO t SELECT id FROM range(150)")
    both = store.sql("SELECT * FROM t UNION ALL SELECT * FROM t").limit(1000)
    assert rows_at_least(both, 1000) == 300
    assert rows_at_least(store.sql("SELECT * FROM t").limit(MOST), MOST) == MOST
