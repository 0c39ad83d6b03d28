"""The statements that SQL texts are parsed to: each scenario names the fields that differ from their defaults."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.columns import (
    AddColumn,
    AlterColumn,
    AlterColumns,
    DropColumn,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
)
from tablestore_engine.sql.statements.layout import AddPrimaryKey, AnalyzeTable, ClusterTable, Compact
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.row import (
    Delete,
    InsertInto,
    InsertOverwrite,
    Merge,
    MergeClause,
    Update,
)
from tablestore_engine.sql.statements.schema import (
    AlterSchema,
    CreateSchema,
    DescribeSchema,
    DropSchema,
    ShowCurrentSchema,
    ShowSchemas,
    Use,
)
from tablestore_engine.sql.statements.show import (
    Describe,
    ShowColumns,
    ShowCreateTable,
    ShowPartitions,
    ShowTables,
    ShowTblProperties,
    ShowViews,
)
from tablestore_engine.sql.statements.statement import (
    Assignment,
    Call,
    ColumnDefinition,
    Explain,
    Noop,
    PartitionValue,
    PassThrough,
    Query,
    QueryInside,
    Statement,
    TableName,
)
from tablestore_engine.sql.statements.table import (
    AlterUnsupported,
    CacheTable,
    CommentOn,
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    DropTable,
    RefreshTable,
    RenameTable,
    SetTableProperties,
    Truncate,
    UncacheTable,
    UnsetTableProperties,
)
from tablestore_engine.sql.statements.view import CreateView, DropView

T = TableName(None, "t")
DB_T = TableName("db", "t")


def fields(statement: Statement) -> dict[str, Any]:
    """The fields that differ from their defaults, without the text."""
    found = {}
    for one in dataclasses.fields(statement):
        value = getattr(statement, one.name)
        if one.name != "sql" and value != one.default and value not in ({}, ()):
            found[one.name] = value
    return found


SCHEMAS: list[tuple[str, type[Statement], dict[str, Any]]] = [
    ("create schema a", CreateSchema, {"database": "a"}),
    (
        "CREATE DATABASE IF NOT EXISTS `a b` COMMENT 'it''s' WITH DBPROPERTIES ('k' = 'v', x.y = 1)",
        CreateSchema,
        {"database": "a b", "if_not_exists": True, "comment": "it's", "properties": {"k": "v", "x.y": "1"}},
    ),
    ("create namespace spark_catalog.a", CreateSchema, {"database": "a"}),
    ("drop schema if exists a cascade", DropSchema, {"database": "a", "if_exists": True, "cascade": True}),
    ("drop database a restrict", DropSchema, {"database": "a"}),
    ("use a", Use, {"database": "a"}),
    ("use schema a", Use, {"database": "a"}),
    ("use tablestore.a", Use, {"database": "a"}),
    ("use schema", Use, {"database": "schema"}),
]
TABLES: list[tuple[str, type[Statement], dict[str, Any]]] = [
    (
        (
            "create table db.t (id bigint not null comment 'the \\'id\\'', `v x` struct<a: int, b: array<map<string,int>>>,"  # noqa: E501
            " d decimal(10, 2) default 0 comment 'x', primary key (id, dt) not enforced) using paimon"
            " partitioned by (dt) comment 'c' tblproperties ('bucket' = '4', 'x' 'y') with ('k' = 1, a.b = true)"
        ),
        CreateTable,
        {
            "table": DB_T,
            "columns": (
                ColumnDefinition("id", "bigint", nullable=False, comment="the 'id'"),
                ColumnDefinition("v x", "struct<a: int, b: array<map<string,int>>>"),
                ColumnDefinition("d", "decimal(10, 2)", comment="x", default_sql="0"),
            ),
            "primary_key": ("id", "dt"),
            "partition_by": ("dt",),
            "comment": "c",
            "options": {"bucket": "4", "x": "y", "k": "1", "a.b": "true"},
        },
    ),
    (
        "create table if not exists t (a int primary key not enforced, b timestamp_ntz null) using tablestore",
        CreateTable,
        {
            "table": T,
            "columns": (ColumnDefinition("a", "int"), ColumnDefinition("b", "timestamp_ntz")),
            "primary_key": ("a",),
            "if_not_exists": True,
        },
    ),
    (
        "create table t (a int, constraint pk primary key (a) not enforced rely)",
        CreateTable,
        {"table": T, "columns": (ColumnDefinition("a", "int"),), "primary_key": ("a",)},
    ),
    (
        "create table t (a int) partitioned by (dt string comment 'day', hr int)",
        CreateTable,
        {
            "table": T,
            "columns": (
                ColumnDefinition("a", "int"),
                ColumnDefinition("dt", "string", comment="day"),
                ColumnDefinition("hr", "int"),
            ),
            "partition_by": ("dt", "hr"),
        },
    ),
    (
        "create table t (primary string, comment string, `check` int, key int, s struct<a: int not null comment ')'> not null)",  # noqa: E501
        CreateTable,
        {
            "table": T,
            "columns": (
                ColumnDefinition("primary", "string"),
                ColumnDefinition("comment", "string"),
                ColumnDefinition("check", "int"),
                ColumnDefinition("key", "int"),
                ColumnDefinition("s", "struct<a: int not null comment ')'>", nullable=False),
            ),
        },
    ),
    (
        "create table t (a int default (1 + 2) not null, b string default null, c string default 'x, y' comment 'z')",
        CreateTable,
        {
            "table": T,
            "columns": (
                ColumnDefinition("a", "int", nullable=False, default_sql="(1 + 2)"),
                ColumnDefinition("b", "string", default_sql="null"),
                ColumnDefinition("c", "string", comment="z", default_sql="'x, y'"),
            ),
        },
    ),
    (
        "create or replace table t (a int)",
        CreateTable,
        {"table": T, "columns": (ColumnDefinition("a", "int"),), "replace": True},
    ),
    (
        "replace table t (a int)",
        CreateTable,
        {"table": T, "columns": (ColumnDefinition("a", "int"),), "replace": True, "must_exist": True},
    ),
    ("create table t as select 1 as a;", CreateTableAs, {"table": T, "query_sql": "select 1 as a"}),
    ("create table t select 1 as a", CreateTableAs, {"table": T, "query_sql": "select 1 as a"}),
    ("create table t as (select 1 as a)", CreateTableAs, {"table": T, "query_sql": "(select 1 as a)"}),
    (
        "create table t with x as (select 1) select * from x",
        CreateTableAs,
        {"table": T, "query_sql": "with x as (select 1) select * from x"},
    ),
    ("create table t as values (1), (2)", CreateTableAs, {"table": T, "query_sql": "values (1), (2)"}),
    ("create table t as table u", CreateTableAs, {"table": T, "query_sql": "table u"}),
    ("create table t as from u select a", CreateTableAs, {"table": T, "query_sql": "from u select a"}),
    (
        (
            "/* {\"app\": \"dbt\"} */\n  create or replace table `db`.`t`\n (PRIMARY KEY (a, b) NOT ENFORCED) WITH ('bucket' = '4')"  # noqa: E501
            "\n partitioned by (a) comment 'c' AS\n -- the query\n SELECT *, ';' /* x */\n from u -- end\n;\n"
        ),
        CreateTableAs,
        {
            "table": DB_T,
            "query_sql": "SELECT *, ';' /* x */\n from u",
            "primary_key": ("a", "b"),
            "partition_by": ("a",),
            "comment": "c",
            "options": {"bucket": "4"},
            "replace": True,
        },
    ),
    (
        "create table if not exists identifier('db.t') options (a 'b') as select 1",
        CreateTableAs,
        {"table": DB_T, "query_sql": "select 1", "options": {"a": "b"}, "if_not_exists": True},
    ),
    ("create table t like db.t", CreateTableLike, {"table": T, "source": DB_T}),
    ("drop table db.t", DropTable, {"table": DB_T}),
    ("drop table if exists db.t purge", DropTable, {"table": DB_T, "if_exists": True}),
    ("drop table t cascade", DropTable, {"table": T}),
    ("truncate table db.t", Truncate, {"table": DB_T}),
    (
        "truncate table t partition (dt = '2024', hr = 1 + 1)",
        Truncate,
        {"table": T, "partition": (PartitionValue("dt", "'2024'"), PartitionValue("hr", "1 + 1"))},
    ),
    ("refresh table db.t", RefreshTable, {"table": DB_T}),
]


def _added(name: str, type_sql: str = "int") -> AddColumn:
    return AddColumn(ColumnDefinition(name, type_sql))


def _dropped(*names: str) -> tuple[DropColumn, ...]:
    return tuple(DropColumn((name,)) for name in names)


ALTER: list[tuple[str, type[Statement], dict[str, Any]]] = [
    ("alter table db.t rename to db.u", RenameTable, {"table": DB_T, "new": TableName("db", "u")}),
    ("alter view t rename to u", RenameTable, {"table": T, "new": TableName(None, "u"), "is_view": True}),
    (
        "alter table t add columns (a int comment 'x', b string not null after a, c date first, s.x.y int)",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AddColumn(ColumnDefinition("a", "int", comment="x")),
                AddColumn(ColumnDefinition("b", "string", nullable=False, after="a")),
                AddColumn(ColumnDefinition("c", "date", first=True)),
                AddColumn(ColumnDefinition("y", "int"), ("s", "x")),
            ),
        },
    ),
    (
        "alter table t add column if not exists a decimal(10,2)",
        AlterColumns,
        {"table": T, "actions": (AddColumn(ColumnDefinition("a", "decimal(10,2)"), if_not_exists=True),)},
    ),
    (
        "alter table t add columns (a as b * 2 comment 'x' first, c int generated always as (max(b, 1)) after d)",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AddColumn(ColumnDefinition("a", "", comment="x", computed_sql="b * 2", first=True)),
                AddColumn(ColumnDefinition("c", "int", computed_sql="CAST(max(b, 1) AS int)", after="d")),
            ),
        },
    ),
    ("alter table t add columns a int, b int", AlterColumns, {"table": T, "actions": (_added("a"), _added("b"))}),
    ("alter table t add a int", AlterColumns, {"table": T, "actions": (_added("a"),)}),
    ("alter table t add (a int, b int)", AlterColumns, {"table": T, "actions": (_added("a"), _added("b"))}),
    (
        "alter table t add column a int, add column b array<int> comment 'x', add columns c date, add d map<int, int>",
        AlterColumns,
        {
            "table": T,
            "actions": (
                _added("a"),
                AddColumn(ColumnDefinition("b", "array<int>", comment="x")),
                _added("c", "date"),
                _added("d", "map<int, int>"),
            ),
        },
    ),
    (
        "alter table t add columns add int, add string comment 'x', b int",
        AlterColumns,
        {
            "table": T,
            "actions": (_added("add"), AddColumn(ColumnDefinition("add", "string", comment="x")), _added("b")),
        },
    ),
    (
        "alter table t drop column a, drop column b, drop c",
        AlterColumns,
        {"table": T, "actions": _dropped("a", "b", "c")},
    ),
    ("alter table t drop columns a, drop", AlterColumns, {"table": T, "actions": _dropped("a", "drop")}),
    ("alter table t drop (a, b)", AlterColumns, {"table": T, "actions": _dropped("a", "b")}),
    ("alter table t drop a", AlterColumns, {"table": T, "actions": _dropped("a")}),
    (
        "alter table t add column a int, drop column b, drop column c.`d.e`",
        AlterColumns,
        {"table": T, "actions": (_added("a"), DropColumn(("b",)), DropColumn(("c", "d.e")))},
    ),
    ("alter table None.db.t rename to `none`.db.u", RenameTable, {"table": DB_T, "new": TableName("db", "u")}),
    ("alter table t drop columns (a, b)", AlterColumns, {"table": T, "actions": _dropped("a", "b")}),
    (
        "alter table t drop column if exists a, b",
        AlterColumns,
        {"table": T, "actions": (DropColumn(("a",), if_exists=True), DropColumn(("b",), if_exists=True))},
    ),
    ("alter table t rename column a.b to c", AlterColumns, {"table": T, "actions": (RenameColumn(("a", "b"), "c"),)}),
    ("alter table t rename a to b", AlterColumns, {"table": T, "actions": (RenameColumn(("a",), "b"),)}),
    (
        "alter table t alter column a type bigint, b.c comment 'x', d first",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AlterColumn(("a",), type_sql="bigint"),
                AlterColumn(("b", "c"), comment="x"),
                AlterColumn(("d",), first=True),
            ),
        },
    ),
    (
        "alter table t alter column a set data type array<int>, rename column b to c, replace columns (x int)",
        AlterColumns,
        {
            "table": T,
            "actions": (
                AlterColumn(("a",), type_sql="array<int>"),
                RenameColumn(("b",), "c"),
                ReplaceColumns((ColumnDefinition("x", "int"),)),
            ),
        },
    ),
    (
        "alter table t alter column a drop not null",
        AlterColumns,
        {"table": T, "actions": (AlterColumn(("a",), nullable=True),)},
    ),
    ("alter table t alter a.b after c", AlterColumns, {"table": T, "actions": (AlterColumn(("a", "b"), after="c"),)}),
    (
        "alter table t change column a b bigint comment 'x' first",
        AlterColumns,
        {
            "table": T,
            "actions": (AlterColumn(("a",), "bigint", comment="x", first=True), RenameColumn(("a",), "b")),
        },
    ),
    (
        "alter table t change a.b b bigint not null",
        AlterColumns,
        {"table": T, "actions": (AlterColumn(("a", "b"), "bigint", nullable=False),)},
    ),
    (
        "alter table t modify a decimal(10, 2) after b",
        AlterColumns,
        {"table": T, "actions": (AlterColumn(("a",), "decimal(10, 2)", after="b"),)},
    ),
    (
        "alter table t alter column a comment 'x'",
        CommentOn,
        {"kind": "COLUMN", "table": T, "column": "a", "comment": "x"},
    ),
    (
        "alter table t change column a comment 'x'",
        CommentOn,
        {"kind": "COLUMN", "table": T, "column": "a", "comment": "x"},
    ),
    ("alter table t set comment 'x'", CommentOn, {"kind": "TABLE", "table": T, "comment": "x"}),
    ("comment on table db.t is 'x'", CommentOn, {"kind": "TABLE", "table": DB_T, "comment": "x"}),
    ("comment on view t is null", CommentOn, {"kind": "VIEW", "table": T, "comment": None}),
    (
        "comment on column db.t.a is 'x'",
        CommentOn,
        {"kind": "COLUMN", "table": DB_T, "column": "a", "comment": "x"},
    ),
    ("comment on schema db is 'x'", CommentOn, {"kind": "SCHEMA", "database": "db", "comment": "x"}),
    (
        "alter table t set tblproperties ('a' = 'b')",
        SetTableProperties,
        {"table": T, "properties": {"a": "b"}},
    ),
    (
        "alter view t unset tblproperties if exists ('a', b.c)",
        UnsetTableProperties,
        {"table": T, "keys": ("a", "b.c"), "if_exists": True, "is_view": True},
    ),
    ("alter table t compact", Compact, {"table": T}),
    (
        "alter table t drop partition (dt = 'x', hr = 1)",
        DropPartitions,
        {"table": T, "partitions": ((PartitionValue("dt", "'x'"), PartitionValue("hr", "1")),)},
    ),
    (
        "alter table t drop if exists partition (dt = 'x'), partition (dt = 'y') purge",
        DropPartitions,
        {
            "table": T,
            "partitions": ((PartitionValue("dt", "'x'"),), (PartitionValue("dt", "'y'"),)),
            "if_exists": True,
        },
    ),
    (
        "alter table t compact partition (dt = 'x')",
        Compact,
        {"table": T, "partition": (PartitionValue("dt", "'x'"),)},
    ),
    (
        "alter table t partition (dt = 'x') compact",
        Compact,
        {"table": T, "partition": (PartitionValue("dt", "'x'"),)},
    ),
    ("alter table t set location 'x'", AlterUnsupported, {"table": T, "what": "SET LOCATION"}),
    (
        "alter table t add constraint positive check (a > 0)",
        AlterUnsupported,
        {"table": T, "what": "ADD CONSTRAINT"},
    ),
    (
        "alter table db.t add constraint pk primary key (a, `b c`) not enforced",
        AddPrimaryKey,
        {"table": DB_T, "columns": ("a", "b c")},
    ),
    ("alter table t add primary key (a)", AddPrimaryKey, {"table": T, "columns": ("a",)}),
    ("alter table t clustered into 8 buckets", ClusterTable, {"table": T, "buckets": 8}),
    (
        "alter table t partition (dt = 'x') clustered into 1 buckets",
        ClusterTable,
        {"table": T, "partition": (PartitionValue("dt", "'x'"),), "buckets": 1},
    ),
    ("alter table t set ('bucket' = '4')", SetTableProperties, {"table": T, "properties": {"bucket": "4"}}),
    (
        "alter table t alter column a set default 1 + 2",
        AlterColumns,
        {"table": T, "actions": (SetDefault(("a",), "1 + 2"),)},
    ),
    ("alter table t alter column a drop default", AlterColumns, {"table": T, "actions": (SetDefault(("a",)),)}),
    ("alter table t drop constraint a", AlterUnsupported, {"table": T, "what": "DROP CONSTRAINT"}),
    ("alter table t rename partition x", AlterUnsupported, {"table": T, "what": "RENAME PARTITION"}),
]
ROWS: list[tuple[str, type[Statement], dict[str, Any]]] = [
    (
        "insert with schema evolution overwrite t select 1",
        InsertOverwrite,
        {"table": T, "query_sql": "select 1", "dynamic_options": {"write.merge-schema": "true"}},
    ),
    ("insert into t select 1", InsertInto, {"table": T, "query_sql": "select 1"}),
    ("insert into t values (1, 'a;b')", InsertInto, {"table": T, "query_sql": "values (1, 'a;b')"}),
    (
        "insert into table db.t (a, `b c`) select 1, 2",
        InsertInto,
        {"table": DB_T, "columns": ("a", "b c"), "query_sql": "select 1, 2"},
    ),
    ("insert into t (select * from u)", InsertInto, {"table": T, "query_sql": "(select * from u)"}),
    (
        "insert into t (a) (select 1)",
        InsertInto,
        {"table": T, "columns": ("a",), "query_sql": "(select 1)"},
    ),
    (
        "insert into t ((select 1) union (select 2))",
        InsertInto,
        {"table": T, "query_sql": "((select 1) union (select 2))"},
    ),
    (
        "insert into t by name select 1 as a",
        InsertInto,
        {"table": T, "query_sql": "select 1 as a", "by_name": True},
    ),
    ("insert into t table u", InsertInto, {"table": T, "query_sql": "table u"}),
    ("insert into t from u select a", InsertInto, {"table": T, "query_sql": "from u select a"}),
    (
        "insert into t partition (dt = '2024') (a, b) select 1, 2",
        InsertInto,
        {
            "table": T,
            "columns": ("a", "b"),
            "partition": (PartitionValue("dt", "'2024'"),),
            "query_sql": "select 1, 2",
        },
    ),
    (
        "insert overwrite table db.t partition (dt = date '2024-01-01', hr) if not exists select 1",
        InsertOverwrite,
        {
            "table": DB_T,
            "partition": (PartitionValue("dt", "date '2024-01-01'"), PartitionValue("hr", None)),
            "if_not_exists": True,
            "query_sql": "select 1",
        },
    ),
    ("insert overwrite t values (1)", InsertOverwrite, {"table": T, "query_sql": "values (1)"}),
    (
        "insert into t replace where dt = '2024' and a in (select 1) with x as (select 1) select * from x",
        InsertOverwrite,
        {
            "table": T,
            "query_sql": "with x as (select 1) select * from x",
            "replace_where_sql": "dt = '2024' and a in (select 1)",
        },
    ),
    (
        "insert into t replace where dt = f(1) (select 2)",
        InsertOverwrite,
        {"table": T, "query_sql": "(select 2)", "replace_where_sql": "dt = f(1)"},
    ),
    (
        "with x as (select 1 as a) insert into t select * from x",
        InsertInto,
        {"table": T, "query_sql": "with x as (select 1 as a) select * from x"},
    ),
    (
        "with x as (select 1 as a) insert into t with recursive y as (select * from x) select * from y",
        InsertInto,
        {
            "table": T,
            "query_sql": "WITH RECURSIVE x as (select 1 as a), y as (select * from x) select * from y",
        },
    ),
    ("delete from db.t", Delete, {"table": DB_T}),
    (
        "delete from t as x where x.a = 'where'",
        Delete,
        {"table": T, "alias": "x", "where_sql": "x.a = 'where'"},
    ),
    (
        "with x as (select 1 as a) delete from t where a in (select a from x) or a in (with y as (select 2) select * from y)",  # noqa: E501
        Delete,
        {
            "table": T,
            "where_sql": "a in (with x as (select 1 as a) select a from x)"
            " or a in (with x as (select 1 as a), y as (select 2) select * from y)",
        },
    ),
    (
        (
            "update db.t x set x.a = case when b then 1 else 2 end, db.t.b = (select max(c) from u where u.x = 1), c = f(1, 2)"  # noqa: E501
            " where x.c in (1, 2)"
        ),
        Update,
        {
            "table": DB_T,
            "alias": "x",
            "assignments": (
                Assignment("a", "case when b then 1 else 2 end"),
                Assignment("b", "(select max(c) from u where u.x = 1)"),
                Assignment("c", "f(1, 2)"),
            ),
            "where_sql": "x.c in (1, 2)",
        },
    ),
    (
        "update t set a = b is distinct from c, d = e is not distinct from 1 where f is distinct from g",
        Update,
        {
            "table": T,
            "assignments": (
                Assignment("a", "b is distinct from c"),
                Assignment("d", "e is not distinct from 1"),
            ),
            "where_sql": "f is distinct from g",
        },
    ),
    ("update t set t.a = 1", Update, {"table": T, "assignments": (Assignment("a", "1"),)}),
    (
        (
            "merge into db.t as dest using (select * from u where v = 1) as src(i, j) on dest.id = src.i"
            " and case when 1 = 1 then true end"
            " when matched and src.j is null then delete"
            " when matched then update set dest.a = src.j, b = case when x then 1 end"
            " when not matched and src.i > 0 then insert (id, dest.a) values (src.i, coalesce(src.j, 1))"
            " when not matched by target then insert *"
            " when not matched by source and dest.a > 3 then update set a = null"
            " when not matched by source then delete"
        ),
        Merge,
        {
            "table": DB_T,
            "target_alias": "dest",
            "source_sql": "(select * from u where v = 1)",
            "source_alias": "src",
            "source_columns": ("i", "j"),
            "on_sql": "dest.id = src.i and case when 1 = 1 then true end",
            "matched": (
                MergeClause(action="DELETE", condition_sql="src.j is null"),
                MergeClause(
                    action="UPDATE",
                    assignments=(Assignment("a", "src.j"), Assignment("b", "case when x then 1 end")),
                ),
            ),
            "not_matched": (
                MergeClause(
                    action="INSERT",
                    condition_sql="src.i > 0",
                    columns=("id", "a"),
                    values_sql=("src.i", "coalesce(src.j, 1)"),
                ),
                MergeClause(action="INSERT", star=True),
            ),
            "not_matched_by_source": (
                MergeClause(action="UPDATE", condition_sql="dest.a > 3", assignments=(Assignment("a", "null"),)),
                MergeClause(action="DELETE"),
            ),
        },
    ),
    (
        "merge into t using db.u on t.id = u.id when matched then update set * when not matched then insert *",
        Merge,
        {
            "table": T,
            "source_sql": "db.u",
            "source_name": TableName("db", "u"),
            "source_alias": "u",
            "on_sql": "t.id = u.id",
            "matched": (MergeClause(action="UPDATE", star=True),),
            "not_matched": (MergeClause(action="INSERT", star=True),),
        },
    ),
    (
        "with u as (select 1 as id) merge into t using u on t.id = u.id when matched then delete",
        Merge,
        {
            "table": T,
            "source_sql": "(with u as (select 1 as id) SELECT * FROM u)",
            "source_alias": "u",
            "on_sql": "t.id = u.id",
            "matched": (MergeClause(action="DELETE"),),
        },
    ),
    (
        "merge into t when using s then on then.k = when.k when matched and then.v > 1 then update set v = then.when",
        Merge,
        {
            "table": T,
            "target_alias": "when",
            "source_sql": "s",
            "source_name": TableName(None, "s"),
            "source_alias": "then",
            "on_sql": "then.k = when.k",
            "matched": (
                MergeClause(action="UPDATE", condition_sql="then.v > 1", assignments=(Assignment("v", "then.when"),)),
            ),
        },
    ),
    (
        "update t set v = where where where = 1 and from > when",
        Update,
        {"table": T, "assignments": (Assignment("v", "where"),), "where_sql": "where = 1 and from > when"},
    ),
    ("update t set v = where", Update, {"table": T, "assignments": (Assignment("v", "where"),)}),
    (
        "update t set v = 1 + from, w = x.where where a",
        Update,
        {"table": T, "assignments": (Assignment("v", "1 + from"), Assignment("w", "x.where")), "where_sql": "a"},
    ),
]
VIEWS: list[tuple[str, type[Statement], dict[str, Any]]] = [
    (
        "create or replace view db.t (a comment 'x', b) comment 'c' tblproperties ('k' = 'v') as select 1, 2",
        CreateView,
        {
            "view": DB_T,
            "query_sql": "select 1, 2",
            "columns": (("a", "x"), ("b", None)),
            "comment": "c",
            "options": {"k": "v"},
            "replace": True,
            "prefix": "create or replace view db.t (a comment 'x', b) comment 'c' tblproperties ('k' = 'v') as ",
        },
    ),
    (
        "create temporary view if not exists t as with x as (select 1) select * from x;",
        CreateView,
        {
            "view": T,
            "query_sql": "with x as (select 1) select * from x",
            "if_not_exists": True,
            "temporary": True,
            "prefix": "create temporary view if not exists t as ",
        },
    ),
    (
        "create view t with schema evolution as select 1",
        CreateView,
        {"view": T, "query_sql": "select 1", "prefix": "create view t with schema evolution as "},
    ),
    (
        "alter view t as select 2",
        CreateView,
        {"view": T, "query_sql": "select 2", "replace": True, "must_exist": True},
    ),
    ("drop view if exists db.t", DropView, {"view": DB_T, "if_exists": True}),
]
LOOKING: list[tuple[str, type[Statement], dict[str, Any]]] = [
    ("show schemas", ShowSchemas, {}),
    ("show databases like 'a*'", ShowSchemas, {"like": "a*"}),
    ("show schemas in spark_catalog 'a'", ShowSchemas, {"like": "a"}),
    ("show current schema", ShowCurrentSchema, {}),
    ("show tables", ShowTables, {}),
    ("show tables in db like 'x*|y'", ShowTables, {"database": "db", "like": "x*|y"}),
    ("show tables from `db` 'x'", ShowTables, {"database": "db", "like": "x"}),
    ("show table extended in db like '*'", ShowTables, {"database": "db", "like": "*", "extended": True}),
    ("show views in db", ShowViews, {"database": "db"}),
    ("show create table db.t", ShowCreateTable, {"table": DB_T}),
    ("show tblproperties db.t", ShowTblProperties, {"table": DB_T}),
    ("show tblproperties t ('a.b')", ShowTblProperties, {"table": T, "key": "a.b"}),
    ("show columns in t in db", ShowColumns, {"table": DB_T}),
    (
        "show partitions t partition (a = 1)",
        ShowPartitions,
        {"table": T, "partition": (PartitionValue("a", "1"),)},
    ),
    ("describe db.t", Describe, {"table": DB_T}),
    ("desc table extended db.t", Describe, {"table": DB_T, "extended": True}),
    ("describe formatted t", Describe, {"table": T, "extended": True}),
    ("describe extended", Describe, {"table": TableName(None, "extended")}),
    ("describe t a.b", Describe, {"table": T, "column": "a.b"}),
    ("describe extended t as json", Describe, {"table": T, "extended": True, "as_json": True}),
    ("describe schema extended db", DescribeSchema, {"database": "db", "extended": True}),
    ("analyze table t compute statistics", AnalyzeTable, {"table": T}),
    ("analyze table t compute statistics noscan", AnalyzeTable, {"table": T, "no_scan": True}),
    (
        "analyze table t compute statistics for columns a, b",
        AnalyzeTable,
        {"table": T, "columns": ("a", "b")},
    ),
]
OTHERS: list[tuple[str, type[Statement], dict[str, Any]]] = [
    ("select 1", Query, {"query_sql": "select 1"}),
    ("/* a */ select 1 -- b\n ; ;", Query, {"query_sql": "select 1"}),
    ("(select 1) union (select 2)", Query, {"query_sql": "(select 1) union (select 2)"}),
    ("with x as (select 1) select * from x", Query, {"query_sql": "with x as (select 1) select * from x"}),
    (
        "with x (a) as (select 1), y as (select 2) from x select a",
        Query,
        {"query_sql": "with x (a) as (select 1), y as (select 2) from x select a"},
    ),
    ("from t select a", Query, {"query_sql": "from t select a"}),
    ("values (1)", Query, {"query_sql": "values (1)"}),
    ("table db.t", Query, {"query_sql": "table db.t"}),
    ("explain select 1", QueryInside, {"kind": "EXPLAIN", "prefix": "explain ", "query_sql": "select 1"}),
    (
        "explain formatted\n with x as (select 1) select 2;",
        QueryInside,
        {"kind": "EXPLAIN", "prefix": "explain formatted\n ", "query_sql": "with x as (select 1) select 2"},
    ),
    (
        "describe query select 1",
        QueryInside,
        {"kind": "DESCRIBE QUERY", "prefix": "describe query ", "query_sql": "select 1"},
    ),
    (
        "desc with x as (select 1) select 2",
        QueryInside,
        {"kind": "DESCRIBE QUERY", "prefix": "desc ", "query_sql": "with x as (select 1) select 2"},
    ),
    (
        "alter database db set dbproperties ('a' = 'b')",
        AlterSchema,
        {"database": "db", "properties": {"a": "b"}},
    ),
    ("truncate table identifier('d' || 'b.t')", Truncate, {"table": DB_T}),
    ("drop table paimon.db.t", DropTable, {"table": DB_T}),
    (
        "desc db.t$files",
        QueryInside,
        {"kind": "DESCRIBE QUERY", "prefix": "DESCRIBE QUERY ", "query_sql": "SELECT * FROM `db`.`t$files`"},
    ),
    ("use paimon", Use, {"database": "paimon"}),
    (
        "cache lazy table x as select 1",
        QueryInside,
        {"kind": "CACHE TABLE", "prefix": "cache lazy table x as ", "query_sql": "select 1"},
    ),
    ("cache table s.t", CacheTable, {"table": TableName("s", "t")}),
    (
        "cache lazy table t options ('storageLevel' = 'DISK_ONLY')",
        CacheTable,
        {"table": T, "lazy": True, "storage_level": "DISK_ONLY"},
    ),
    ("uncache table if exists t", UncacheTable, {"table": T}),
    (
        "insert overwrite directory '/x' using parquet options (a 'b') select 1",
        QueryInside,
        {
            "kind": "INSERT DIRECTORY",
            "prefix": "insert overwrite directory '/x' using parquet options (a 'b') ",
            "query_sql": "select 1",
        },
    ),
    (
        "call sys.compact(table => 'db.t', full => true, n => -1, x => null)",
        Call,
        {"procedure": "compact", "named": {"table": "db.t", "full": True, "n": -1, "x": None}},
    ),
    ("CALL Compact('db.t', 3)", Call, {"procedure": "compact", "positional": ("db.t", 3)}),
    ("call system.rollback()", Call, {"procedure": "rollback"}),
    ("begin", Noop, {}),
    ("START TRANSACTION;", Noop, {}),
    ("commit work", Noop, {}),
    ("rollback", Noop, {}),
    ("", Noop, {}),
    (" ; -- nothing", Noop, {}),
]
PASSED = [
    "set spark.sql.ansi.enabled = false",
    "set x = (select 1)",
    "reset",
    "describe function +",
    "show catalogs",
    "drop temporary function f",
    "create temporary view v using csv options (path '/x')",
    "create temporary view v (a int, b string) using csv options (path '/x')",
    "create temporary function f as 'x.Y'",
    "add jar /x/*.jar",
    "grant select on schema s to u",
    "revoke all privileges on catalog c from u",
    "optimize",
    "vacuum a.b.c",
    "grant some_role to u",
    "analyze tables in db compute statistics",
    "call ice.system.expire_snapshots('t')",
    "declare x int = 5",
    "msck something",
    "refresh '/path'",
    "refresh function f",
    "something else 'that never ends",
]
ALL = [*SCHEMAS, *TABLES, *ALTER, *ROWS, *VIEWS, *LOOKING, *OTHERS]


@pytest.mark.parametrize(("text", "kind", "expected"), ALL, ids=[text[:60] for text, _, _ in ALL])
def test_statements(text: str, kind: type[Statement], expected: dict[str, Any]) -> None:
    statement = parse(text)
    assert type(statement) is kind
    assert statement.sql == text
    assert fields(statement) == expected


@pytest.mark.parametrize("text", PASSED)
def test_what_is_spark_s_passes_untouched(text: str) -> None:
    assert parse(text) == PassThrough(sql=text)


def test_explain_of_a_statement() -> None:
    statement = parse("explain extended insert into t select 1")
    assert isinstance(statement, Explain)
    assert statement.mode == "EXTENDED"
    assert isinstance(statement.statement, InsertInto)


@pytest.mark.parametrize("text", [text for text, _, _ in ALL if text.strip(" ;")])
def test_dbt_s_header_and_trailing_noise_change_nothing(text: str) -> None:
    plain = parse(text)
    dressed = parse(f'/* {{"app": "dbt", "x": "it\'s"}} */\n{text}\n;\n-- end\n')
    assert type(dressed) is type(plain)
    for one in dataclasses.fields(plain):
        if one.name not in ("sql", "prefix"):
            assert getattr(dressed, one.name) == getattr(plain, one.name)


@pytest.mark.parametrize("text", [text for text, _, _ in ALL])
def test_case_of_keywords_and_line_breaks_do_not_matter(text: str) -> None:
    if any(mark in text for mark in "'\"`-"):
        return
    assert type(parse(text.upper().replace(" ", "\n\t "))) is type(parse(text))


def test_a_statement_in_a_literal_is_that_statement() -> None:
    statement = parse("execute immediate 'insert into t ' 'values (''x'')';")
    assert isinstance(statement, InsertInto)
    assert (statement.table, statement.query_sql) == (T, "values ('x')")
