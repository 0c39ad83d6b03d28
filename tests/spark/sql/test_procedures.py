"""CALL sys.…: expiration, tags and orphan files."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from support.spark_rows import answers

from tablestore_engine.errors import SnapshotNotFound, SqlError, TableNotFound, TagNotFound, UserError
from tablestore_engine.schema.table.predicate import Compare

pytestmark = pytest.mark.spark


@pytest.fixture
def call(store):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    for n in range(4):
        store.execute(f"INSERT INTO t VALUES (1, {n})")
    return lambda sql: answers(store, f"CALL sys.{sql}")


def test_tags_are_versions(call, store):
    assert call("create_tag(table => 't', tag => 'second', snapshot => 2)") == [(True,)]
    assert call("create_tag('default.t', 'now')") == [(True,)]
    assert store.sql("SELECT v FROM t VERSION AS OF 'second'").first()[0] == 1
    found = store.sql("SELECT tag_name, snapshot_id, record_count FROM t$tags ORDER BY 1").collect()
    assert [tuple(row) for row in found] == [("now", 4, 4), ("second", 2, 2)]
    assert call("expire_snapshots(table => 't', retain_max => 1)") == [(3,)]
    assert store.sql("SELECT v FROM t VERSION AS OF 'second'").first()[0] == 1
    assert store.sql("SELECT v FROM t").first()[0] == 3
    with pytest.raises(SnapshotNotFound, match="only 4"):
        store.sql("SELECT v FROM t VERSION AS OF 2")
    assert call("delete_tag('t', 'second, now')") == [(True,)]
    with pytest.raises(TagNotFound, match="no tags"):
        store.sql("SELECT v FROM t VERSION AS OF 'second'")


def test_tags_change(call, store):
    assert call("create_tag(table => 't', tag => 'a', snapshot => 1, time_retained => '1 d')") == [(True,)]
    assert call("rename_tag(table => 't', tag => 'a', target_tag => 'b')") == [(True,)]
    found = store.sql("SELECT tag_name, snapshot_id, time_retained, create_time <= now() FROM t$tags").collect()
    assert [tuple(row) for row in found] == [("b", 1, "PT24H", True)]
    assert call("replace_tag(table => 't', tag => 'b', snapshot => 2)") == [(True,)]
    assert store.sql("SELECT v FROM t VERSION AS OF 'b'").first()[0] == 1
    times = {s.id: s.time_millis for s in store.table("t").snapshots()}
    first = min(n for n, at in times.items() if at >= times[3])
    assert call(f"create_tag_from_timestamp(table => 't', tag => 'c', timestamp => {times[3]})") == [
        ("c", first, times[first], None)
    ]
    with pytest.raises(SnapshotNotFound, match="or later"):
        call("create_tag_from_timestamp('t', 'd', '2100-01-01 00:00:00')")
    assert call("expire_tags('t')") == []
    assert call("expire_tags(table => 't', older_than => '2100-01-01 00:00:00')") == [("b",), ("c",)]


def test_rollback(call, store):
    value = lambda: store.sql("SELECT v FROM t").first()[0]  # noqa: E731
    call("create_tag('t', 'second', 2)")
    assert call("rollback(table => 't', version => 'second')") == [(4, 2, 5)]
    assert value() == 1
    assert call("rollback('t', 4)") == [(5, 4, 6)]
    assert value() == 3
    assert call("rollback(table => 't', snapshot => 1)") == [(6, 1, 7)]
    assert value() == 0
    assert call("rollback(table => 't', tag => 'second')") == [(7, 2, 8)]
    assert call("rollback(table => 't', tag => 'second')") == [(8, 2, 8)], "nothing to do"
    at = store.table("t").snapshot(4).time_millis
    to = store.table("t").snapshot_at(at).id
    assert call(f"rollback_to_timestamp(table => 't', timestamp => {at})") == [(8, to, 9)]
    assert value() == to - 1
    assert call("rollback_to_as_latest(table => 't', snapshot_id => 2)") == [(9, 2, 10)]
    assert value() == 1
    for number, watermark in ((1, 100), (2, 200), (4, 400)):  # as another engine may write them
        path = Path(store.table("t").paths.snapshot(number))
        path.write_text(json.dumps({**json.loads(path.read_text()), "watermark": watermark}))
    assert call("rollback_to_watermark(table => 't', watermark => 399)") == [(10, 2, 10)], "nothing to do"
    assert call("rollback_to_watermark(table => 't', watermark => 400)") == [(10, 4, 11)]
    with pytest.raises(SnapshotNotFound, match=r"no snapshot with a watermark of 99 or earlier.*\$snapshots"):
        call("rollback_to_watermark('t', 99)")
    store.execute("INSERT INTO t VALUES (1, 77)")
    assert value() == 77


def test_consumers(call, store):
    assert call("reset_consumer(table => 't', consumerId => 'a', nextSnapshotId => 2)") == [(True,)]
    assert call("reset_consumer(table => 't', consumer_id => 'b', next_snapshot_id => 3)") == [(True,)]
    found = store.sql("SELECT * FROM t$consumers").collect()
    assert [tuple(row) for row in found] == [("a", 2), ("b", 3)]
    assert call("expire_snapshots(table => 't', retain_max => 1)") == [(1,)], "the others are waited for"
    assert call("clear_consumers(table => 't', including_consumers => 'a.*', excluding_consumers => 'ab')") == [(True,)]
    assert call("reset_consumer('t', 'a')") == [(False,)]
    assert call("expire_snapshots(table => 't', retain_max => 1)") == [(1,)]
    assert call("clear_consumers('t')") == [(True,)]
    assert call("expire_snapshots(table => 't', retain_max => 1)") == [(1,)]


def test_partitions(call, store):
    store.execute("CREATE TABLE p (dt STRING, hr INT, v INT) PARTITIONED BY (dt, hr)")
    store.execute("INSERT INTO p SELECT concat('202001', lpad(id, 2, '0')), id % 2, 1 FROM range(1, 7)")
    partitions = lambda: [row[0] for row in store.execute("SHOW PARTITIONS p").rows]  # noqa: E731
    assert len(partitions()) == 6
    for statement in ("CALL sys.drop_partition('p', 'dt=20200101,hr=1,HR=2')",
                      "ALTER TABLE p DROP PARTITION (hr = 1, dt = 'x', HR = 2)",
                      "INSERT INTO p PARTITION (hr = 1, HR = 2) VALUES ('x', 1)"):  # fmt: skip
        with pytest.raises(SqlError, match=r"The partition column 'hr' occurs twice in one partition\. Name it once\."):
            store.execute(statement)
    assert len(partitions()) == 6
    assert call("drop_partition(table => 'p', partitions => 'dt=20200101,hr=1;dt=20200102;dt=19990101')") == [(True,)]
    store.execute("ALTER TABLE p DROP PARTITION (dt = '20200103', hr = 1), PARTITION (dt = '20200104')")
    assert partitions() == ["dt=20200105/hr=1", "dt=20200106/hr=0"]
    later = "expire_partitions(table => 'p', expiration_time => '100000 d', timestamp_formatter => 'yyyyMMdd')"
    assert call(later) == []
    due = "table => 'p', expiration_time => '1 d', timestamp_pattern => '$dt $hr', timestamp_formatter => 'yyyyMMdd H'"
    assert call(f"expire_partitions({due}, max_expires => 1)") == [("dt=20200105/hr=1",)]
    assert call(f"expire_partitions({due})") == [("dt=20200106/hr=0",)]
    assert partitions() == []


def test_expiration_by_number_and_time(call, store):
    assert call("expire_snapshots('t')") == [(0,)], "young ones stay"
    assert call("expire_snapshots(table => 't', retain_min => 3, older_than => '2000-01-01 00:00:00')") == [(0,)]
    later = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() + 60))
    assert call(f"expire_snapshots(table => 't', retain_min => 3, older_than => '{later}')") == [(1,)]
    assert call("expire_snapshots(table => 't', retain_max => 2, max_deletes => 1)") == [(1,)]
    assert [row[0] for row in store.sql("SELECT snapshot_id FROM t$snapshots").collect()] == [3, 4]


def test_orphans(call, store):
    table = store.table("t")
    lost = f"{table.path}/bucket-0/data-lost.parquet"
    with open(lost, "w") as file:
        file.write("x")
    assert call("remove_orphan_files('t')") == [], "younger than a day"
    os.utime(lost, (0, 0))
    assert call("remove_orphan_files(table => 't', dry_run => true)") == [(lost,)]
    assert os.path.exists(lost)
    assert call("remove_orphan_files('t')") == [(lost,)]
    assert not os.path.exists(lost)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("nothing('t')", SqlError, "no procedure sys.nothing. There are: compact, schedule"),
        ("expire_snapshots()", SqlError, "needs table"),
        ("create_tag('t')", SqlError, "needs tag"),
        ("create_tag('t', 'a', 1, '1 d', 2)", SqlError, "takes 4 arguments"),
        ("create_tag('t', '12')", UserError, "number"),
        ("create_tag('t', 'a', 9)", SnapshotNotFound, "9 of table default.t does not exist"),
        ("delete_tag('t', 'a')", TagNotFound, "'a' of table default.t does not exist"),
        ("expire_snapshots(table => 't', keep => 2)", SqlError, "does not take keep"),
        ("expire_snapshots(table => 't', retain_max => 0)", SqlError, "retain_max is a number from 1 on"),
        ("expire_snapshots(table => 't', retain_max => 2, retain_min => 3)", SqlError, "greater"),
        ("expire_snapshots(table => 't', older_than => 'tomorrow')", SqlError, "older_than is a time"),
        ("remove_orphan_files(table => 't', dry_run => 'yes')", SqlError, "true or false"),
        (
            "create_tag(table => 't', tag => 'a', time_retained => 'long')",
            SqlError,
            "time_retained cannot be 'long'",
        ),
        ("rollback('t')", SqlError, "needs one of version, snapshot and tag"),
        ("rollback(table => 't', version => 1, tag => 'a')", SqlError, "needs one of"),
        ("rollback(table => 't', tag => '1')", TagNotFound, "'1' of table default.t does not exist"),
        ("rollback(table => 't', version => 99)", SnapshotNotFound, "1 to 4"),
        ("rollback_to_timestamp('t', '1999-01-01')", SnapshotNotFound, "at or before 1999"),
        ("rollback_to_watermark('t', 'x')", SqlError, "watermark is a number"),
        ("fast_forward('t', 'b')", SqlError, "no branches yet. A tag keeps"),
        ("migrate_table('hive', 'd.t')", SqlError, "CREATE TABLE t AS SELECT . FROM parquet"),
        ("rename_tag('t', 'a')", SqlError, "needs target_tag"),
        ("reset_consumer('t', 'a/b', 1)", UserError, "name of a consumer"),
        ("clear_consumers('t', '(')", SqlError, "not a regular expression"),
        ("compact_database(including_databases => '[')", SqlError, "including_databases is not a regular expression"),
        ("repair('default.missing')", TableNotFound, "missing"),
        ("remove_orphan_files('none.*')", UserError, "none"),
        ("expire_partitions('t')", SqlError, "needs expiration_time"),
        ("expire_partitions('t', '1 d')", UserError, "not partitioned"),
        (
            "expire_partitions(table => 't', expiration_time => '1 d', expire_strategy => 'x')",
            SqlError,
            "values-time",
        ),
        ("drop_partition('t', 'dt')", SqlError, "'dt' is not a partition"),
        ("expire_snapshots('missing')", TableNotFound, "missing"),
    ],
)
def test_wrong_calls_are_refused(call, text, error, message):
    with pytest.raises(error, match=message):
        call(text)


def test_a_query_finishes_while_its_snapshot_expires(store):
    """A query that was planned on a snapshot reads its files while newer ones come and old ones expire."""
    store.execute(
        "CREATE TABLE r (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('snapshot.num-retained.min' = '1')"
    )
    store.execute("INSERT INTO r VALUES (1, 0)")
    reading = store.sql("SELECT v FROM r")
    for n in range(1, 4):
        store.execute(f"INSERT INTO r VALUES (1, {n})")
        store.execute("ALTER TABLE r COMPACT")
    store.execute("CALL sys.rollback('r', 2)")
    assert store.execute("CALL sys.expire_snapshots('r')").rows == [(0,)], "the hour is not over"
    assert [row[0] for row in reading.collect()] == [0]
    assert [row[0] for row in store.sql("SELECT v FROM r").collect()] == [1]


def test_few_manifests(call, store):
    manifests = lambda: store.sql("SELECT count(*) FROM t$manifests").first()[0]  # noqa: E731
    assert manifests() == 4
    assert call("compact_manifest('t')") == [(True,)]
    assert manifests() == 1
    assert [s.commit_kind for s in store.table("t").snapshots()][-1] == "COMPACT"
    store.execute("DELETE FROM t")
    store.execute("CALL sys.compact('t')")
    assert call("compact_manifest('t')") == [(True,)]
    assert (manifests(), store.table("t").live_files()) == (0, [])
    assert store.sql("SELECT v FROM t VERSION AS OF 2").first()[0] == 1


def test_missing_files(call, store):
    store.execute("CREATE TABLE m (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write-only' = 'true')")
    store.execute("INSERT INTO m VALUES (1, 1)")
    store.execute("INSERT INTO m VALUES (2, 2)")
    table = store.table("m")
    (path, _) = (row[0] for row in store.sql("SELECT file_path FROM m$files ORDER BY min_sequence_number").collect())
    assert call("remove_unexisting_files('m')") == []
    os.unlink(path)
    assert call("remove_unexisting_files(table => 'm', dry_run => true)") == [(path,)]
    assert table.latest_snapshot().id == 2
    assert call("remove_unexisting_files('m')") == [(path,)]
    assert [tuple(row) for row in store.sql("SELECT * FROM m").collect()] == [(2, 2)]


def test_file_indexes_of_some_partitions(call, store):
    store.execute("CREATE TABLE x (d INT, name STRING) PARTITIONED BY (d)")
    store.execute("INSERT INTO x VALUES (1, 'a'), (1, 'm'), (2, 'a'), (2, 'm')")
    store.execute("ALTER TABLE x SET TBLPROPERTIES ('file-index.bloom-filter.columns' = 'name')")
    assert call("rewrite_file_index(table => 'x', where => 'd = 2')") == [(1, 1)]
    indexed = {e.file.index_file is not None for e in store.table("x").live_files()}
    assert indexed == {True, False}
    assert store.sql("SELECT d FROM x WHERE name = 'a' ORDER BY d").toArrow().column(0).to_pylist() == [1, 2]
    assert store.sql("SELECT count(*) FROM x WHERE name IN ('c', 'f')").first()[0] == 0
    assert store.table("x").scan(predicate=Compare("name", "=", "c")).row_count == 2, "only the file without an index"


def test_purge(call, store):
    call("create_tag('t', 'a')")
    call("reset_consumer('t', 'c', 1)")
    assert call("purge_files('t')") == [("Success",)]
    table = store.table("t")
    assert ([s.id for s in table.snapshots()], table.tags.all(), table.live_files()) == ([5], {}, [])
    found = store.sql("SELECT count(*) FROM t$consumers").first()[0]
    left = [name for _, _, names in os.walk(table.path) for name in names if name.endswith(".parquet")]
    assert (found, left) == (0, [])
    store.execute("INSERT INTO t VALUES (1, 7)")
    assert store.sql("SELECT v FROM t").first()[0] == 7


def test_whole_databases(call, store):
    store.execute("CREATE DATABASE other")
    store.execute("CREATE TABLE other.u (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('write-only' = 'true')")
    for n in range(2):
        store.execute(f"INSERT INTO other.u VALUES (1, {n})")
    files = lambda name: len(store.table(name).live_files())  # noqa: E731
    finished = "Compact database finished. Success: {}, Failed: 0"
    assert call("compact_database(including_tables => 'nothing')") == [(finished.format(0),)]
    assert call("compact_database(including_databases => 'o.*', excluding_tables => '.*v')") == [(finished.format(1),)]
    assert files("other.u") == 1
    hints = [f"{store.table('other.u').path}/snapshot/{name}" for name in ("LATEST", "EARLIEST")]
    for hint in hints:
        with open(hint, "w") as file:
            file.write("77")
    assert call("repair('default.t, other')") == [(True,)]
    assert [Path(hint).read_text() for hint in hints] == ["3", "1"]
    lost = f"{store.table('other.u').path}/bucket-0/data-lost.parquet"
    with open(lost, "w") as file:
        file.write("x")
    os.utime(lost, (0, 0))
    assert call("remove_orphan_files('other.*')") == [(lost,)]


def test_partitions_that_are_done(call, store):
    store.execute("CREATE TABLE d (dt STRING, v INT) PARTITIONED BY (dt)")
    store.execute("INSERT INTO d VALUES ('a', 1), ('b', 2)")
    marks = [Path(store.table("d").path, f"dt={dt}", "_SUCCESS") for dt in "ab"]
    assert call("mark_partition_done('d', 'dt=a')") == [(True,)]
    assert [mark.exists() for mark in marks] == [True, False]
    created = json.loads(marks[0].read_text())["creationTime"]
    assert call("mark_partition_done('d', 'dt=a;dt=b;dt=c')") == [(True,)]
    times = json.loads(marks[0].read_text())
    assert times["creationTime"] == created <= times["modificationTime"]
    assert marks[1].exists()
    assert store.sql("SELECT sum(v) FROM d").first()[0] == 3
    set_action = "ALTER TABLE d SET TBLPROPERTIES ('partition.mark-done-action' = '{}')"
    with pytest.raises(UserError, match="mark-event"):
        store.execute(set_action.format("success-file,mark-event"))
    store.execute(set_action.format("done-partition"))
    assert call("mark_partition_done('d', 'dt=a')") == [(True,)]
    assert Path(store.table("d").path, "dt=a.done").is_dir()


def test_tags_by_call(call, store):
    assert call("trigger_tag_automatic_creation('t')") == []
    store.execute("ALTER TABLE t SET TBLPROPERTIES ('tag.automatic-creation' = 'batch')")
    ((name,),) = call("trigger_tag_automatic_creation('t')")
    assert [row[0] for row in store.sql("SELECT tag_name FROM t$tags").collect()] == [name]
