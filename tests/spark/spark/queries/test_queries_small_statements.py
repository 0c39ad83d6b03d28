"""Statements on small tables cost few Spark jobs and little planning."""

from __future__ import annotations

from unittest import mock

import pytest

from tablestore_engine.spark.write import writer

pytestmark = pytest.mark.spark


@pytest.fixture
def jobs(spark):
    """Counts the Spark jobs of a function."""
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()

    def count(run):
        before = scheduler.numTotalJobs()
        run()
        return scheduler.numTotalJobs() - before

    return count


@pytest.fixture
def calls():
    """Counts the calls of the JVM that a function makes, without those that only release an object there."""
    from py4j.java_gateway import GatewayClient

    whole = GatewayClient.send_command

    def count(run):
        sent = []

        def send(self, command, *args, **kwargs):
            sent.append(command)
            return whole(self, command, *args, **kwargs)

        with mock.patch.object(GatewayClient, "send_command", send):
            run()
        return sum(not command.startswith("m\n") for command in sent)

    return count


def test_an_insert_is_one_job_and_calls_the_jvm_no_more_often_for_many_columns(store, jobs, calls):
    fits, cast = [], []
    for columns in (3, 30):
        names = [f"c{i}" for i in range(columns)]
        store.sql(f"CREATE TABLE t{columns} ({', '.join(f'{name} INT' for name in names)})")
        for found, value in ((fits, "1"), (cast, "1L")):
            insert = f"INSERT INTO t{columns} SELECT {', '.join(f'{value} AS {name}' for name in names)}"
            assert jobs(lambda insert=insert: store.execute(insert)) <= 1
            found.append(calls(lambda insert=insert: store.execute(insert)))
        assert store.sql(f"SELECT DISTINCT * FROM t{columns}").collect() == [(1,) * columns]
    assert fits[0] == fits[1] > 0
    assert cast[1] - cast[0] == 27, "the text of each column"


@pytest.mark.parametrize("clauses", ["", "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2')"])
def test_few_rows_are_sorted_grouped_and_numbered_in_one_job(store, jobs, clauses):
    store.sql(f"CREATE TABLE t (id INT, v STRING) {clauses}")
    store.sql("INSERT INTO t VALUES (3, 'x'), (1, 'y'), (2, 'x')")
    for query, expected in (
        ("SELECT id FROM t ORDER BY id", [(1,), (2,), (3,)]),
        ("SELECT v, count(*) FROM t GROUP BY v ORDER BY v", [("x", 2), ("y", 1)]),
        ("SELECT id, row_number() OVER (PARTITION BY v ORDER BY id) FROM t ORDER BY ALL", [(1, 1), (2, 1), (3, 2)]),
    ):
        found = []
        assert jobs(lambda query=query, found=found: found.extend(store.sql(query).collect())) == 1
        assert [tuple(row) for row in found] == expected


def test_analyze_plans_one_value_for_each_column(store, jobs):
    columns = ", ".join(f"c{i} INT" for i in range(20))
    store.sql(f"CREATE TABLE t ({columns})")
    store.sql(f"INSERT INTO t VALUES ({', '.join('1' for _ in range(20))})")
    assert jobs(lambda: store.execute("ANALYZE TABLE t COMPUTE STATISTICS FOR ALL COLUMNS")) <= 2


@pytest.mark.parametrize("case_sensitive", ["true", "false"])
def test_case_sensitive_sessions(store, case_sensitive):
    store.spark.conf.set("spark.sql.caseSensitive", case_sensitive)
    store.sql("CREATE TABLE t (Id INT, V STRING, PRIMARY KEY (Id) NOT ENFORCED)")
    store.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    # Queries and writes of a case-sensitive session name columns as they are spelled.
    table, key, value = ("t", "Id", "V") if case_sensitive == "true" else ("T", "ID", "v")
    store.sql(f"INSERT INTO {table} ({value}, {key}) VALUES ('c', 3)")
    store.sql(f"UPDATE {table} SET {value} = 'B' WHERE Id = 2")
    store.sql("DELETE FROM t WHERE Id = 1")
    store.sql(
        "MERGE INTO t USING (SELECT 3 AS Id, 'm' AS V) q ON t.Id = q.Id WHEN MATCHED THEN UPDATE SET *"
        " WHEN NOT MATCHED THEN INSERT *"
    )
    store.sql("CREATE VIEW seen AS SELECT * FROM t WHERE V IS NOT NULL")
    assert [tuple(row) for row in store.sql("SELECT Id, V FROM seen ORDER BY Id").collect()] == [(2, "B"), (3, "m")]


KEY = "spark.sql.codegen.wholeStage"


def test_small_statements_are_not_compiled_and_leave_the_setting_alone(store, monkeypatch):
    store.sql("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO t VALUES (1, 'a')")
    store.spark.conf.unset(KEY)
    seen, collect = [], writer.collect_arrow

    def collecting(frame):
        rows = collect(frame)
        plan = frame._jdf.queryExecution().executedPlan().toString()
        seen.append(("*(" in plan, store.spark.conf.get(KEY, None)))
        return rows

    monkeypatch.setattr(writer, "collect_arrow", collecting)
    for statement in (
        "INSERT INTO t SELECT id + 1, v FROM t",
        "CREATE TABLE u AS SELECT count(*) AS n FROM t",
        "INSERT INTO t SELECT id, 'b' FROM range(3)",
        "INSERT INTO t SELECT explode(sequence(7, 9)), 'c'",
    ):
        store.execute(statement)
        assert store.spark.conf.get(KEY, None) is None
    assert seen == [(False, None), (False, None), (True, None), (True, None)]
    assert store.execute("SELECT * FROM t").is_small
    assert not store.execute("SELECT * FROM range(3)").is_small
    store.execute("CREATE TABLE alike AS SELECT 1 AS v FROM range(300000)")
    assert not store.execute("SELECT * FROM alike").is_small  # some kilobytes of them
    assert sorted(tuple(row) for row in store.sql("SELECT v, count(*) FROM t GROUP BY v").collect()) == [
        ("b", 3), ("c", 3)
    ]  # fmt: skip
