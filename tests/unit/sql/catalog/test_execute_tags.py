"""Statements on tags, which Paimon's Spark extension has, too; without a JVM."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.execute_door import door  # noqa: F401

from tablestore_engine.errors import (
    ParseError,
    SnapshotNotFound,
    SqlError,
    TagAlreadyExists,
    TagNotFound,
)


@pytest.fixture
def tagged(door):
    door.run("create table t (a int)")
    for number in range(3):
        door.catalog.load_table("default", "t").write(pa.table({"a": pa.array([number], pa.int32())}))
    return door


def tags(door):
    table = door.catalog.load_table("default", "t")
    return {one.name: (one.snapshot.id, one.lifetime and one.lifetime.retained_millis) for one in table.tags.stored()}


def test_a_life(tagged):
    assert tagged.run("alter table t create tag `tag-1` as of version 2 retain 24 hours").kind == "CREATE TAG"
    tagged.run("ALTER TABLE default.t CREATE TAG 'newest'")
    assert tags(tagged) == {"newest": (3, None), "tag-1": (2, 86_400_000)}
    assert tagged.column("show tags t") == ["newest", "tag-1"]
    tagged.run("alter table t create tag if not exists newest as of version 1")
    assert tags(tagged)["newest"] == (3, None)
    tagged.run("alter table t replace tag newest retain 2 days")
    assert tags(tagged)["newest"] == (3, 172_800_000)
    tagged.run("alter table t create or replace tag newest as of version 1")
    tagged.run("alter table t create or replace tag another")
    assert tags(tagged) == {"another": (3, None), "newest": (1, None), "tag-1": (2, 86_400_000)}
    tagged.run("alter table t rename tag `tag-1` to second")
    tagged.run("alter table t delete tag newest")
    tagged.run("alter table t delete tag if exists newest")
    assert tagged.column("SHOW TAGS default.t") == ["another", "second"]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("create tag x", TagAlreadyExists, "'x'"),
        ("create tag y as of version 9", SnapshotNotFound, "9"),
        ("replace tag y", TagNotFound, "'y'"),
        ("delete tag y", TagNotFound, "Tags are: x"),
        ("rename tag y to z", TagNotFound, "'y'"),
        ("create tag y retain 5", ParseError, "DAYS, HOURS or MINUTES"),
        ("create tag y retain many days", ParseError, "a number"),
        ("create tag y as of version now", ParseError, "id of a snapshot"),
        ("create tag y and more", ParseError, "should end here"),
        ("create branch b", SqlError, "CREATE BRANCH"),
    ],
)
def test_refused(tagged, text, error, message):
    tagged.run("alter table t create tag x")
    with pytest.raises(error, match=message):
        tagged.run(f"alter table t {text}")
    assert tags(tagged) == {"x": (3, None)}


def test_several_tags_are_deleted_by_one_name_with_commas(tagged):
    for name in ("a", "b", "c"):
        tagged.run(f"alter table t create tag {name}")
    with pytest.raises(TagNotFound, match="'x'"):
        tagged.run("alter table t delete tag `a, x`")
    assert set(tags(tagged)) == {"a", "b", "c"}
    tagged.run("alter table t delete tag `a, b`")
    tagged.run("alter table t delete tag if exists `b,c`")
    assert tags(tagged) == {}
