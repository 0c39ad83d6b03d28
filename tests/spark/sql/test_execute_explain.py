"""EXPLAIN of statements that change rows: the plan that computes them, and nothing is written."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SchemaError, SqlError, TableStoreError
from tablestore_engine.sql.pinned_queries.pinned_query import Frames

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("clauses", ["TBLPROPERTIES ('primary-key' = 'id')", ""], ids=["with a key", "without a key"])
def test_changes_are_planned_and_not_made(store, clauses):
    store.sql(f"CREATE TABLE t (id INT, v INT) {clauses}")
    store.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
    before = store.table("t").latest_snapshot()
    for change in (
        "UPDATE t SET v = v + 77 WHERE id = 1",
        "DELETE FROM t WHERE v + 77 > 90",
        "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 77",
    ):
        plan = store.sql(f"EXPLAIN EXTENDED {change}").first()[0]
        assert "77" in plan
        assert "Scan parquet" in plan
        assert "__" not in plan
        assert "#" not in "".join(line for line in plan.splitlines() if "SubqueryAlias" in line)
        assert store.sql(f"EXPLAIN {change}").first()[0].startswith("== Physical Plan ==")
    assert store.table("t").latest_snapshot() == before


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        ("UPDATE t SET v = max(v)", r"max are not allowed in SET: v = max\(v\)"),
        ("UPDATE t SET v = 1 WHERE v > avg(v)", r"avg are not allowed in WHERE"),
        ("DELETE FROM t WHERE count(*) > 1", r"count are not allowed in WHERE"),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND sum(s.v) > 1 THEN DELETE",
            r"sum are not .* in WHEN: sum",
        ),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = min(s.v)",
            r"min are not allowed in SET",
        ),
        ("MERGE INTO t USING s ON max(t.id) = s.id WHEN MATCHED THEN DELETE", r"max are not allowed in ON"),
        (
            "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, `first`(s.v))",
            r"first are not allowed in VALUES",
        ),
    ],
)
def test_aggregates_are_refused_by_clause(changing, change, clause):
    with pytest.raises(SqlError, match=f"Aggregate functions such as {clause}") as caught:
        changing.sql(change)
    assert "GROUP BY" not in str(caught.value)


def test_functions_and_subqueries_are_not_taken_for_aggregates(changing):
    changing.sql("UPDATE t SET v = (SELECT max(v) FROM t) + greatest(id, 0) WHERE id IN (SELECT min(id) FROM t)")
    assert [tuple(row) for row in changing.sql("SELECT * FROM t").collect()] == [(1, 11)]
    for change in ("UPDATE t SET v = nope + abs(v)", "DELETE FROM t WHERE nope(v) > 1"):
        with pytest.raises(SqlError, match="nope") as caught:
            changing.sql(change)
        assert "__" not in str(caught.value)


@pytest.fixture
def changing(store):
    store.sql("CREATE TABLE t (id INT, v INT)")
    store.sql("CREATE TABLE s (id INT, v INT)")
    store.sql("INSERT INTO t VALUES (1, 10)")
    return store


def test_explain_names_skipped_files_and_the_reason(store):
    store.sql(
        "CREATE TABLE t (id INT, v INT, d STRING) PARTITIONED BY (d) WITH ('primary-key' = 'd,id', 'bucket' = '4')"
    )
    store.sql("INSERT INTO t SELECT CAST(id AS INT), 1, concat('p', id % 3) FROM range(60)")
    store.sql("INSERT INTO t VALUES (1000, 2, 'p1')")
    for query in ("SELECT * FROM t WHERE d = 'p1' AND id = 7", "DELETE FROM t WHERE d = 'p1' AND id = 7"):
        plan = store.sql(f"EXPLAIN {query}").first()[0]
        assert "== Files of default.t, snapshot 2 ==\n1 of " in plan, query
        assert "partitions: 1 of 3; left out by d = 'p1': d=p0, d=p2" in plan
        assert "buckets: 1 of 4; left out by id = 7 (hash): d=p1/bucket-" in plan
    merge = "MERGE INTO t USING (SELECT 7 AS id, 'p1' AS d) s ON t.id = s.id AND t.d = s.d WHEN MATCHED THEN DELETE"
    plan = store.sql(f"EXPLAIN {merge}").first()[0]
    assert (
        "\nkeys: when it runs, the rows are looked up by id, d of the source, as long as these values are few" in plan
    )
    assert "keys:" not in store.sql(f"EXPLAIN {merge} WHEN NOT MATCHED BY SOURCE THEN DELETE").first()[0]
    plan = store.sql("EXPLAIN SELECT * FROM t WHERE v = 99 AND d = 'p1'").first()[0]
    assert "left out by statistics" in plan
    assert "left out" not in store.sql("EXPLAIN SELECT * FROM t").first()[0]


@pytest.mark.parametrize("clauses", ["WITH ('primary-key' = 'id', 'bucket' = '1')", ""], ids=["with a key", "without"])
def test_files_are_named_when_none_is_read(store, clauses):
    store.sql(f"CREATE TABLE t (id INT, v INT) {clauses}")
    store.sql("INSERT INTO t VALUES (1, 10), (2, 20)")
    (file,) = (entry.file.file_name for entry in store.table("t").live_files())
    plan = store.sql("EXPLAIN SELECT * FROM t WHERE v = 99").first()[0]
    assert f"0 of 1 files are read\nfiles: 0 of 1; left out by statistics and file indexes, v = 99: {file}" in plan


@pytest.mark.parametrize("change", ["INTO t", "OVERWRITE t", "INTO t REPLACE WHERE id = 3"])
def test_an_insert_is_planned_with_the_defaults_of_its_columns(store, change):
    store.sql("CREATE TABLE t (id INT, v INT DEFAULT 40 + 2, d STRING) PARTITIONED BY (d)")
    before = store.table("t").latest_snapshot()
    rows = "SELECT CAST(id AS INT), DEFAULT, 'p' FROM range(3, 4)"
    plan = store.sql(f"EXPLAIN EXTENDED INSERT {change} {rows}").first()[0]
    assert "42" in plan
    assert "cannot be resolved" not in plan
    assert "== Physical Plan ==" in plan
    assert store.table("t").latest_snapshot() == before
    values = store.sql(f"EXPLAIN INSERT {change} VALUES (3, DEFAULT, 'p')").first()[0]
    assert values.startswith("== Physical Plan ==")
    with pytest.raises(SchemaError, match=r"^EXPLAIN INSERT INTO default\.t failed: "):
        store.sql("EXPLAIN INSERT INTO t VALUES (1)")


def test_the_files_that_an_overwrite_replaces_are_named(store):
    store.sql("CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)")
    store.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    for change, files in (
        ("OVERWRITE t PARTITION (p = 'a') SELECT 3", "1 of 2 files are replaced\npartitions: 1 of 2: p=a"),
        ("OVERWRITE t SELECT 3, 'c'", "those of the partitions in which there are rows, of 2 files"),
    ):
        plan = store.sql(f"EXPLAIN INSERT {change}").first()[0]
        assert f"== Replaced files of default.t ==\n{files}" in plan


def test_an_insert_that_adds_columns_is_planned(store):
    store.sql("CREATE TABLE t (id INT)")
    plan = store.sql("EXPLAIN INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 1 AS id, 77 AS added").first()[0]
    assert "77" in plan
    assert store.table("t").schema.field_names == ("id",)


@pytest.mark.parametrize(
    ("mode", "query"),
    [
        ("EXPLAIN", "SELECT id, nope FROM t"),
        ("EXPLAIN EXTENDED", "SELECT nope(v) FROM t"),
        ("EXPLAIN COST", "SELECT nope FROM t"),
        ("EXPLAIN CODEGEN", "SELECT nope FROM t"),
        ("EXPLAIN", "SELECT * FROM t WHERE v > (SELECT max(nope) FROM t)"),
        ("EXPLAIN FORMATTED", "SELECT * FROM nope"),
        ("EXPLAIN CREATE TABLE u AS", "SELECT id,\n nope FROM t"),
        ("EXPLAIN INSERT INTO t", "SELECT id, nope FROM t"),
    ],
)
def test_a_query_that_has_no_plan_is_refused_as_without_explain(store, mode, query):
    store.sql("CREATE TABLE t (id INT, v INT)")
    with pytest.raises(TableStoreError) as alone:
        store.sql(query)
    with pytest.raises(TableStoreError) as explained:
        store.sql(f"{mode} {query}")
    assert "nope" in alone.value.message
    assert type(explained.value) is type(alone.value)
    assert explained.value.message.partition("\n")[0].endswith(alone.value.message.partition("\n")[0])
    assert not store.catalog.table_exists("default", "u")


def test_a_query_is_analysed_once(store, monkeypatch):
    store.sql("CREATE TABLE t (id INT, v INT)")
    texts, run = [], Frames.run
    monkeypatch.setattr(Frames, "run", lambda self, bound, prefix="": texts.append(prefix) or run(self, bound, prefix))
    for mode in ("EXPLAIN", "EXPLAIN FORMATTED"):
        store.sql(f"{mode} SELECT id FROM t")
    assert [text.strip() for text in texts] == ["EXPLAIN", "EXPLAIN FORMATTED"]
