"""What is not for the catalog, and statements of other formats, which say what to do instead."""

from __future__ import annotations

import pytest
from support.execute_door import NOW, door  # noqa: F401

from tablestore_engine.errors import (
    SqlError,
)
from tablestore_engine.sql.catalog.execute_catalog import execute
from tablestore_engine.sql.parse.parse import parse


@pytest.mark.parametrize(
    "text", ["select 1", "use s", "show current schema", "insert into t values (1)", "create view v as select 1",
             "create table t as select 1", "truncate table t", "alter table t compact", "analyze table t compute statistics", "set a = b"]  # noqa: E501
)  # fmt: skip
def test_other_statements_are_left_alone(door, text):
    assert execute(parse(text), door.context) is None


FOREIGN = {
    "optimize t": "ALTER TABLE t COMPACT",
    "OPTIMIZE None.default.t where a > 1 zorder by (`a`, b)": "CALL sys.compact(table => 'default.t', order_strategy => "  # noqa: E501
    "'zorder', order_by => 'a,b')",
    "vacuum t retain 168 hours": "CALL sys.expire_snapshots(table => 't')",
    "restore table t to version as of 3": "CALL sys.rollback(table => 't'",
    "msck repair table default.t": "Leave it out",
    "repair table t add partitions": "Leave it out",
    "grant select, modify on t to `a b`": "permissions",
    "revoke all privileges on table t from u": "permissions",
    "grant select on view v to u": "permissions",
}


@pytest.mark.parametrize("text", FOREIGN)
def test_statements_of_other_formats_say_what_to_do_instead(door, text):
    door.run("create table t (a int)")
    door.view("v", a="int")
    with pytest.raises(SqlError) as caught:
        door.run(text)
    assert "is not supported: 'default." in caught.value.message
    assert FOREIGN[text] in caught.value.hint


@pytest.mark.parametrize("text", ["optimize delta.`/x`", "vacuum nope", "grant select on db.t to u", "repair table u"])
def test_unmanaged_tables_are_left_to_spark(door, text):
    door.run("create table t (a int)")
    assert execute(parse(text), door.context) is None


@pytest.mark.parametrize(
    ("text", "hint"), [("describe history t", "t$snapshots"), ("desc detail t", "DESCRIBE TABLE EXTENDED t")]
)
def test_descriptions_of_other_formats(door, text, hint):
    door.run("create table t (a int)")
    with pytest.raises(SqlError, match="is not supported") as caught:
        door.run(text)
    assert hint in caught.value.hint
    door.run("create table history (t int)")
    door.run("create table detail (t int)")
    assert door.rows(text)[0] == ("col_name", "t"), "a column of a table of that name"
