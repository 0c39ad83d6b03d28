"""A table's metadata as rows, and statements' results as frames."""

from __future__ import annotations

import json
import os
from datetime import datetime

import pytest
from support.spark_rows import answers, rows

from tablestore_engine.errors import ChangesNotFound, OptionError, SqlError, TableNotFound
from tablestore_engine.system.system_tables import columns_of, names

pytestmark = pytest.mark.spark


@pytest.fixture
def ask(store):
    """Asks one question about a table with two partitions, three snapshots and two schemas."""
    store.execute(
        "CREATE TABLE t (p STRING, id INT, v INT, PRIMARY KEY (p, id) NOT ENFORCED) PARTITIONED BY (p)"
        " WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    store.execute("INSERT INTO t VALUES ('a', 1, 1), ('a', 2, 2), ('b', 3, 3)")
    store.execute("ALTER TABLE t ADD COLUMN w STRING COMMENT 'later'")
    store.execute("DELETE FROM t WHERE id = 1")
    store.execute("INSERT INTO t VALUES ('b', 4, 4, 'x')", properties={"batch": "7"})
    return lambda sql: answers(store, sql)


def test_snapshots(ask, store):
    found = ask(
        "SELECT snapshot_id, schema_id, commit_kind, total_record_count, "
        "delta_record_count, properties FROM t$snapshots"
    )
    assert [row[0] for row in found] == [1, 2, 3]
    assert [row[1] for row in found] == [0, 1, 1]
    assert {row[2] for row in found} == {"APPEND"}
    assert (found[0][3], found[0][4]) == (3, 3)
    assert found[2][5] == '{"batch": "7"}'
    ((when,),) = ask("SELECT max(commit_time) FROM t$snapshots")
    assert isinstance(when, datetime)
    assert abs(when.timestamp() * 1000 - store.table("t").latest_snapshot().time_millis) < 1
    assert ask("SELECT count(*) FROM `t$snapshots` WHERE commit_time > current_timestamp()") == [(0,)]


def test_schemas_and_options(ask):
    found = ask("SELECT schema_id, fields, partition_keys, primary_keys FROM t$schemas ORDER BY 1")
    assert [row[0] for row in found] == [0, 1]
    assert [f["name"] for f in json.loads(found[0][1])] == ["p", "id", "v"]
    assert json.loads(found[1][1])[3]["description"] == "later"
    assert (found[0][2], found[0][3]) == ('["p"]', '["p", "id"]')
    assert ("bucket", "1") in ask("SELECT * FROM t$options")


def test_files_and_partitions(ask, store):
    found = ask("SELECT partition, bucket, file_name, level, record_count, deleteRowCount FROM t$files")
    assert sorted((row[0], row[3], row[4], row[5]) for row in found) == [
        ("{a}", 0, 1, 1),
        ("{a}", 5, 2, 0),
        ("{b}", 0, 1, 0),
        ("{b}", 5, 1, 0),
    ]
    for partition, bucket, name, *_ in found:
        assert os.path.exists(f"{store.table('t').path}/p={partition[1:-1]}/bucket-{bucket}/{name}")
    assert ask("SELECT partition, record_count, file_count FROM t$partitions") == [
        ("p=a", 1, 2),
        ("p=b", 2, 2),
    ]
    joined = "SELECT sum(f.file_size_in_bytes) = sum(DISTINCT p.file_size_in_bytes) FROM t$files f JOIN t$partitions p"
    assert ask(
        f"{joined} ON f.partition = '{{' || split_part(p.partition, '=', 2) || '}}' WHERE p.partition = 'p=a'"
    ) == [(True,)]


def test_buckets_and_manifests(ask, store):
    buckets = ask("SELECT partition, bucket, record_count, file_count, last_update_time <= now() FROM t$buckets")
    assert buckets == [("{a}", 0, 1, 2, True), ("{b}", 0, 2, 2, True)]
    same = (
        "SELECT count(*) FROM t$buckets b JOIN t$partitions p USING (last_update_time, file_size_in_bytes)"
        " WHERE b.partition = '{' || split_part(p.partition, '=', 2) || '}'"
    )
    assert ask(same) == [(2,)], "there is one bucket in each"
    found = ask("SELECT file_name, num_added_files, num_deleted_files, " "min_partition_stats, max_partition_stats, file_size"  # noqa: E501
                 " FROM t$manifests")  # fmt: skip
    assert sorted(row[1:5] for row in found) == [
        (1, 0, "{a}", "{a}"),
        (1, 0, "{b}", "{b}"),
        (2, 0, "{a}", "{b}"),
    ]
    for name, *_, size in found:
        assert os.path.getsize(store.table("t").paths.manifest(name)) == size
    (low, high), *_ = ask("SELECT min_key, max_key FROM t$files WHERE partition = '{a}' AND level > 0")
    assert (low, high) == ("[1]", "[2]")
    assert {row[0] for row in ask("SELECT file_source FROM t$files")} == {"APPEND"}
    bounds = (
        "SELECT null_value_counts, min_value_stats, max_value_stats FROM t$files WHERE partition = '{a}' AND level > 0"
    )
    assert ask(bounds) == [("{id=0, p=0, v=0, w=2}", "{id=1, p=a, v=1, w=null}", "{id=2, p=a, v=2, w=null}")]


def test_at_an_earlier_snapshot(ask, store):
    assert ask("SELECT count(*) FROM t$files VERSION AS OF 1") == [(2,)]
    assert ask("SELECT sum(record_count) FROM t$partitions VERSION AS OF 1") == [(3,)]
    assert len(ask("SELECT * FROM t$manifests VERSION AS OF 1")) == 1
    store.execute("CALL sys.create_tag('t', 'two', 2)")
    assert ask("SELECT count(*) FROM t$buckets VERSION AS OF 'two'") == [(2,)]
    assert ask("SELECT rowkind, id FROM t$audit_log VERSION AS OF 1 ORDER BY id") == [
        ("+I", 1),
        ("+I", 2),
        ("+I", 3),
    ]
    assert store.sql("SELECT * FROM t$audit_log VERSION AS OF 1").columns == ["rowkind", "p", "id", "v"]
    with pytest.raises(SqlError, match=r"t\$snapshots' is of the whole table"):
        ask("SELECT * FROM t$snapshots VERSION AS OF 1")


def test_audit_log(ask, store):
    kinds = "SELECT rowkind, p, id, v, w FROM t$audit_log ORDER BY id"
    assert ask(kinds) == [
        ("-D", "a", 1, 1, None), ("+I", "a", 2, 2, None), ("+I", "b", 3, 3, None), ("+I", "b", 4, 4, "x"),
    ]  # fmt: skip
    assert ask("SELECT count(*) FROM t$audit_log WHERE rowkind = '-D'") == [(1,)]
    store.execute("INSERT INTO t SELECT '+U' AS _row_kind, 'b' AS p, 4 AS id, 44 AS v, 'y' AS w")
    assert ask("SELECT rowkind, v FROM t$audit_log WHERE id = 4") == [("+U", 44)]
    store.execute("ALTER TABLE t COMPACT")
    assert [row[2] for row in ask(kinds)] == [2, 3, 4], "a compaction drops what says that a row is deleted"


@pytest.mark.parametrize("producer", ["none", "lookup"])
def test_changes_of_a_range_in_logs(store, producer):
    """With a producer they show each change, without one what differs."""
    store.sql(
        f"CREATE TABLE c (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('changelog-producer' = '{producer}')"
    )
    for statement in (
        "INSERT INTO c VALUES (1, 1), (2, 2)",
        "INSERT INTO c VALUES (1, 5)",
        "UPDATE c SET v = 6 WHERE id = 1",
        "DELETE FROM c WHERE id = 2",
    ):
        store.sql(statement)
    hint = "/*+ OPTIONS('incremental-between' = '1,4') */"
    recorded = producer == "lookup"
    steps = [(1, 5), (5, 6)] if recorded else [(1, 6)]
    log = [("-U", 1, a) for a, _ in steps] + [("+U", 1, b) for _, b in steps] + [("-D", 2, 2)]
    assert sorted(rows(store, f"SELECT * FROM c$audit_log {hint}")) == sorted(log)
    found = store.sql(f"SELECT * FROM c$binlog {hint} WHERE rowkind <> '-D' ORDER BY v[0]").collect()
    assert [tuple(row) for row in found] == [("+U", [1, 1], [a, b]) for a, b in steps]
    assert tuple(store.sql(f"SELECT * FROM c$binlog {hint} WHERE rowkind = '-D'").first()) == ("-D", [2], [2])
    assert [tuple(row)[1:] for row in store.sql("SELECT * FROM c$binlog WHERE id[0] = 1").collect()] == [([1], [6])]
    with pytest.raises(OptionError, match=r"'scan.plan' has no effect on the system table '.*c\$audit_log'"):
        store.sql("SELECT * FROM c$audit_log /*+ OPTIONS('scan.plan' = '1') */")


def test_logs_of_changelogs_whose_snapshots_are_expired(store):
    options = (
        "'changelog-producer' = 'input', 'write-only' = 'true', 'changelog.num-retained.max' = '9',"
        " 'snapshot.num-retained.min' = '1'"
    )
    store.execute(f"CREATE TABLE c (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({options})")
    for number in range(3):
        store.execute(f"INSERT INTO c VALUES ({number})")
    assert answers(store, "CALL sys.expire_snapshots(table => 'c', retain_max => 1)") == [(2,)]
    log = "SELECT * FROM c$audit_log /*+ OPTIONS('incremental-between' = '{},3') */"
    assert rows(store, log.format(0)) == [("+I", 0), ("+I", 1), ("+I", 2)]
    assert answers(store, "CALL sys.expire_changelogs(table => 'c', retain_max => 2)") == [(1,)]
    assert rows(store, log.format(1)) == [("+I", 1), ("+I", 2)]
    with pytest.raises(ChangesNotFound, match="There are those of 2 to 3"):
        store.sql(log.format(0))


def test_audit_log_of_other_tables(store):
    store.execute("CREATE TABLE a (v INT)")
    assert store.sql("SELECT * FROM a$audit_log").collect() == []
    store.execute("INSERT INTO a VALUES (1), (1)")
    assert rows(store, "SELECT * FROM a$audit_log") == [("+I", 1)] * 2
    store.execute(
        "CREATE TABLE s (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum')"
    )
    store.execute("INSERT INTO s VALUES (1, 1)")
    store.execute("INSERT INTO s VALUES (1, 2)")
    assert rows(store, "SELECT * FROM s$audit_log") == [("+I", 1, 3)]


def test_a_system_table_that_does_not_exist(ask):
    with pytest.raises(
        TableNotFound,
        match=r"t\$nothing.*snapshots, schemas, tags, options, consumers, compactions, aggregation_fields, files",
    ):
        ask("SELECT * FROM t$nothing")


def test_a_table_without_snapshots(store):
    store.execute("CREATE TABLE e (id INT)")
    for name in (n for n in names() if n not in ("schemas", "options", "aggregation_fields")):
        assert store.sql(f"SELECT * FROM e${name}").collect() == []
    assert len(store.sql("SELECT * FROM e$schemas").collect()) == 1


def test_columns_are_known_without_reading(ask, store):
    table = store.table("t")
    for name in names():
        frame = store.sql(f"SELECT * FROM t${name}")
        assert [(column, kind) for column, kind, _ in columns_of(table, name)] == frame.dtypes, name
    assert columns_of(table, "nothing") == []


def test_statements_return_frames(store):
    assert store.sql("CREATE TABLE e (id INT)").collect() == []
    changed = store.sql("INSERT INTO e VALUES (1), (2)")
    assert (changed.columns, [tuple(r) for r in changed.collect()]) == (["num_affected_rows"], [(2,)])
    shown = store.sql("SHOW TABLES")
    assert [tuple(r) for r in shown.select("tableName").collect()] == [("e",)]
    described = {r["col_name"]: r["data_type"] for r in store.sql("DESCRIBE e").collect()}
    assert described["id"] == "int"


def test_temporary_views_hide_what_the_catalog_has(store):
    store.execute("CREATE TABLE v (id INT)")
    store.execute("CREATE TEMPORARY VIEW v AS SELECT 'x' AS text")
    assert [row["col_name"] for row in store.sql("DESCRIBE v").collect()] == ["text"]
    assert [row[0] for row in store.sql("SHOW COLUMNS IN v").collect()] == ["text"]
    assert [row[0] for row in store.sql("DESCRIBE default.v").collect()] == ["id"]
    assert store.sql("SELECT * FROM v").first()[0] == "x"
    store.execute("DROP VIEW v")
    assert store.sql("SELECT * FROM v").columns == ["id"]
    store.execute("DROP VIEW IF EXISTS other_v")
    store.execute("DROP TABLE v")


def test_read_optimized(ask, store):
    """Only what a full compaction has merged."""
    assert sorted(ask("SELECT id FROM t$ro")) == [(1,), (2,), (3,)], "the first write made the top level"
    store.execute("CALL sys.compact('t')")
    store.execute("INSERT INTO t VALUES ('a', 5, 5, 'x')")
    assert sorted(ask("SELECT id, w FROM t$read_optimized")) == [(2, None), (3, None), (4, "x")]
    assert columns_of(store.table("t"), "ro")[0] == ("p", "string", None)
    store.execute("CREATE TABLE plain AS SELECT 1 AS a")
    assert ask("SELECT * FROM plain$ro") == [(1,)]
