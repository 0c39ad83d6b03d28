"""CALL sys.…: expiration, tags and orphans as a user meets them."""

from __future__ import annotations

import os
import time

import pytest

from tablestore_engine.errors import SnapshotNotFound, SqlError, TableNotFound, TagNotFound, UserError

pytestmark = pytest.mark.spark


@pytest.fixture
def call(store):
    store.execute("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    for n in range(4):
        store.execute(f"INSERT INTO t VALUES (1, {n})")
    return lambda sql: [tuple(row) for row in store.sql(f"CALL sys.{sql}").collect()]


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


def test_expiration_by_number_and_time(call, store):
    assert call("expire_snapshots('t')") == [(0,)], "young ones stay"
    assert call("expire_snapshots(table => 't', retain_min => 3, older_than => '2000-01-01 00:00:00')") == [
        (0,)
    ]
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
        ("nothing('t')", SqlError, "no procedure sys.nothing. There are: sys.compact, sys.expire_snapshots"),
        ("expire_snapshots()", SqlError, "needs table"),
        ("create_tag('t')", SqlError, "needs tag"),
        ("create_tag('t', 'a', 1, 2)", SqlError, "takes 3 arguments"),
        ("create_tag('t', '12')", UserError, "number"),
        ("create_tag('t', 'a', 9)", SnapshotNotFound, "9 does not exist"),
        ("delete_tag('t', 'a')", TagNotFound, "'a' does not exist"),
        ("expire_snapshots(table => 't', keep => 2)", SqlError, "does not take keep"),
        ("expire_snapshots(table => 't', retain_max => 0)", SqlError, "retain_max is a number from 1 on"),
        ("expire_snapshots(table => 't', retain_max => 2, retain_min => 3)", SqlError, "greater"),
        ("expire_snapshots(table => 't', older_than => 'tomorrow')", SqlError, "older_than is a time"),
        ("remove_orphan_files(table => 't', dry_run => 'yes')", SqlError, "true or false"),
        ("expire_snapshots('missing')", TableNotFound, "missing"),
    ],
)
def test_what_is_refused(call, text, error, message):
    with pytest.raises(error, match=message):
        call(text)
