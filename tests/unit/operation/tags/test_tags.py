"""Tags that come, change and go, and the files that they keep."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
from support.files import data_files, kept_paths, live_paths
from support.tables import compact, keyed_table, write

from tablestore_engine.errors import (
    CorruptMetadataError,
    SnapshotNotFound,
    TagAlreadyExists,
    TagNotFound,
    UserError,
)
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.tag_lifetime import Lifetime, duration_text, lifetime_of, tag_of
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.tags.tag_expire import expire_tags
from tablestore_engine.operation.tags.tags import replace_tag
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.storage.metadata_files import manifest_store

ALL_BUT_ONE = Retention(1, 1, 0, 1_000)
DAY = 86_400_000


def new_table(warehouse, **options):
    options = {"bucket": "1", "write-only": "true", **options}
    return keyed_table(warehouse, options)


@pytest.fixture
def table(tmp_path):
    return new_table(tmp_path)


def fill(table):
    """Three snapshots of which the last needs no file of the others."""
    write(table, [{"id": 1, "v": 1}])
    write(table, [{"id": 1, "v": 2}])
    compact(table)


def rows(table, tag):
    manifest_store._cache.clear()
    return table.to_arrow(snapshot=table.version(tag)).to_pylist()


def test_the_file_of_a_tag(table):
    """As Paimon writes it, in local time; without a lifetime nothing but the snapshot."""
    fill(table)
    table.create_tag("plain", 1)
    assert table.io.read(table.paths.tag("plain")) == table.io.read(table.paths.snapshot(1))
    table.create_tag("month", 1, 30 * DAY)
    stored = json.loads(table.io.read(table.paths.tag("month")))
    assert stored["tagTimeRetained"] == 2_592_000.0
    year, *_, nanos = stored["tagCreateTime"]
    assert len(stored["tagCreateTime"]) == 7
    assert year == time.localtime().tm_year
    assert nanos % 1_000_000 == 0
    found = {one.name: one for one in table.tags.stored()}
    assert found["plain"].lifetime is None
    assert found["month"].lifetime.retained_millis == 30 * DAY
    assert abs(found["month"].created_millis - found["plain"].created_millis) < 60_000


@pytest.mark.parametrize("millis", [0, 999, 1_700_000_000_123, 1_700_000_000_000])
def test_lifetimes_come_back(table, millis):
    fill(table)
    lifetime = Lifetime(millis, 1_500)
    tag = Snapshot.from_json(tag_of(table.snapshot(1), lifetime).to_json())
    assert lifetime_of(tag) == lifetime
    assert tag_of(tag, None) == table.snapshot(1)
    assert not lifetime.is_over(millis + 1_500)
    assert lifetime.is_over(millis + 1_501)


def test_times_of_java(table):
    """It leaves out seconds and fractions that are zero."""
    fill(table)
    short = {"tagCreateTime": [2024, 1, 31, 12, 30], "tagTimeRetained": 60}
    text = json.dumps({**json.loads(table.snapshot(1).to_json()), **short})
    assert lifetime_of(Snapshot.from_json(text)) == Lifetime(
        int(time.mktime((2024, 1, 31, 12, 30, 0, 0, 0, -1))) * 1000, 60_000
    )


@pytest.mark.parametrize(
    ("millis", "text"),
    [(DAY, "PT24H"), (5_400_000, "PT1H30M"), (500, "PT0.5S"), (10_000, "PT10S"), (0, "PT0S")],
)
def test_durations_as_java_writes_them(millis, text):
    assert duration_text(millis) == text


def test_a_tag_that_cannot_be_read(table):
    fill(table)
    table.create_tag("odd", 1, DAY)
    path = table.paths.tag("odd")
    data = json.loads(table.io.read(path))
    table.io.write(path, json.dumps({**data, "tagTimeRetained": "P1D"}).encode())
    with pytest.raises(CorruptMetadataError, match="tag-odd"):
        table.tags.stored()
    assert table.version("odd").id == 1, "its snapshot can be read all the same"


def test_the_default_time(tmp_path):
    table = new_table(tmp_path, **{"tag.default-time-retained": "2 d"})
    fill(table)
    table.create_tag("usual")
    table.create_tag("short", retained_millis=5)
    found = {one.name: one.lifetime.retained_millis for one in table.tags.stored()}
    assert found == {"usual": 2 * DAY, "short": 5}


def test_rename(table):
    fill(table)
    table.create_tag("a", 1, DAY)
    table.create_tag("taken", 2)
    table.tags.rename("a", "b")
    assert table.tags.names() == ["b", "taken"]
    assert table.tags.stored()[0].lifetime.retained_millis == DAY
    with pytest.raises(TagAlreadyExists, match="'taken'"):
        table.tags.rename("b", "taken")
    with pytest.raises(TagNotFound, match=f"Tags are: b, taken. Their folder is {re.escape(table.path)}"):
        table.tags.rename("a", "c")
    with pytest.raises(UserError, match="number"):
        table.tags.rename("b", "17")
    assert table.tags.names() == ["b", "taken"]


def test_a_replaced_tag_keeps_its_former_files_no_longer(table):
    fill(table)
    table.create_tag("t", 1)
    table.expire_snapshots(ALL_BUT_ONE)
    assert rows(table, "t") == [{"id": 1, "v": 1}]
    kept = data_files(table)
    replace_tag(table.state, "t", table.snapshot(3), Lifetime(0, 7))
    assert rows(table, "t") == [{"id": 1, "v": 2}]
    assert table.tags.stored()[0].lifetime == Lifetime(0, 7)
    assert data_files(table) == kept_paths(table) < kept
    with pytest.raises(TagNotFound, match=r"'u' of table default\.t does not exist"):
        replace_tag(table.state, "u", table.snapshot(3))


def test_another_time_for_the_same_snapshot(table):
    fill(table)
    table.create_tag("t", 1)
    table.expire_snapshots(ALL_BUT_ONE)
    replace_tag(table.state, "t", table.tags.load("t"), Lifetime(0, 7))
    assert rows(table, "t") == [{"id": 1, "v": 1}]
    replace_tag(table.state, "t", table.tags.load("t"), None)
    assert table.tags.stored()[0].lifetime is None


def test_a_tag_is_not_given_to_what_expired(table):
    fill(table)
    removed = table.snapshot(2)
    table.create_tag("t", 1)
    table.expire_snapshots(ALL_BUT_ONE)
    with pytest.raises(SnapshotNotFound, match="Snapshot 2 expired"):
        replace_tag(table.state, "t", removed)
    assert rows(table, "t") == [{"id": 1, "v": 1}]
    assert data_files(table) == kept_paths(table)


def test_tags_whose_time_is_over_go(table):
    fill(table)
    table.create_tag("short", 1, 1_000)
    table.create_tag("long", 2, DAY)
    table.create_tag("plain", 1)
    now = max(one.created_millis for one in table.tags.stored())
    assert expire_tags(table.state, now) == []
    assert expire_tags(table.state, now + 2_000) == ["short"]
    assert expire_tags(table.state, now + 2 * DAY) == ["long"]
    assert expire_tags(table.state, now + 100 * DAY) == [], "without a time it stays"
    table.expire_snapshots(ALL_BUT_ONE)
    assert data_files(table) == kept_paths(table)
    assert expire_tags(table.state, now, older_than_millis=now - DAY) == []
    os.utime(table.paths.tag("plain"), (0, 0))
    assert expire_tags(table.state, now, older_than_millis=now - DAY) == ["plain"]
    assert data_files(table) == kept_paths(table) == live_paths(table)


def test_a_commit_looks_after_tags(tmp_path):
    table = new_table(tmp_path, **{"write-only": "false"})
    fill(table)
    table.create_tag("over", 1, 1)
    table.create_tag("stays", 1, DAY)
    stored = table.tags.load("over")
    table.tags.replace("over", tag_of(stored, Lifetime(0, 1)))
    follow(Committed(table.state, table.latest_snapshot()))
    assert table.tags.names() == ["over", "stays"], "nothing follows a compaction"
    follow(Committed(table.state, table.snapshot(2)))
    assert table.tags.names() == ["stays"]


def test_files_that_a_branch_may_need_outlive_the_tag(table):
    """Paimon makes branches of tags, and keeps in their own directory only what names the files."""
    fill(table)
    table.create_tag("t", 2)
    table.expire_snapshots(ALL_BUT_ONE)
    kept = data_files(table)
    assert kept > live_paths(table)
    table.io.write(f"{table.path}/branch/branch-b/snapshot/snapshot-1", b"{}")
    table.delete_tag("t")
    assert data_files(table) == kept
