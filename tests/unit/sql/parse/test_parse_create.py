"""CREATE, DROP and other statements on whole tables and views: each case names the fields that it sets."""

from __future__ import annotations

from support.parsed import DB_T, Case, T, parsing_test

from tablestore_engine.sql.statements.statement import (
    ColumnDefinition,
    Existing,
    PartitionValue,
)
from tablestore_engine.sql.statements.table import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    DropTable,
    RefreshTable,
    Truncate,
)
from tablestore_engine.sql.statements.view import CreateView, DropView, SetViewMode

TABLES: list[Case] = [
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
            "existing": Existing.KEPT,
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
        "create table t (a int constraint big check (a > 9) constraint n not null check (a < 99), check (b > a), b int)",  # noqa: E501
        CreateTable,
        {
            "table": T,
            "columns": (
                ColumnDefinition("a", "int", nullable=False, checks=(("big", "a > 9"), ("", "a < 99"))),
                ColumnDefinition("b", "int"),
            ),
            "options": {
                "constraint.check.big": "a > 9",
                "constraint.check.a_check": "a < 99",
                "constraint.check.a_check2": "b > a",
            },
        },
    ),
    (
        "create or replace table t (a int)",
        CreateTable,
        {"table": T, "columns": (ColumnDefinition("a", "int"),), "existing": Existing.REPLACED},
    ),
    (
        "replace table t (a int)",
        CreateTable,
        {"table": T, "columns": (ColumnDefinition("a", "int"),), "existing": Existing.REQUIRED},
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
            "existing": Existing.REPLACED,
        },
    ),
    (
        "create table if not exists identifier('db.t') options (a 'b') as select 1",
        CreateTableAs,
        {"table": DB_T, "query_sql": "select 1", "options": {"a": "b"}, "existing": Existing.KEPT},
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
VIEWS: list[Case] = [
    (
        "create or replace view db.t (a comment 'x', b) comment 'c' tblproperties ('k' = 'v') as select 1, 2",
        CreateView,
        {
            "view": DB_T,
            "query_sql": "select 1, 2",
            "columns": (("a", "x"), ("b", None)),
            "comment": "c",
            "options": {"k": "v"},
            "existing": Existing.REPLACED,
            "prefix": "create or replace view db.t (a comment 'x', b) comment 'c' tblproperties ('k' = 'v') as ",
        },
    ),
    (
        "create temporary view if not exists t as with x as (select 1) select * from x;",
        CreateView,
        {
            "view": T,
            "query_sql": "with x as (select 1) select * from x",
            "existing": Existing.KEPT,
            "temporary": True,
            "prefix": "create temporary view if not exists t as ",
        },
    ),
    (
        "create view t with schema evolution as select 1",
        CreateView,
        {"view": T, "query_sql": "select 1", "mode": "EVOLUTION", "prefix": "create view t with schema evolution as "},
    ),
    (
        "create view t with schema type evolution as select 1",
        CreateView,
        {
            "view": T,
            "query_sql": "select 1",
            "mode": "TYPE EVOLUTION",
            "prefix": "create view t with schema type evolution as ",
        },
    ),
    ("alter view t with schema compensation", SetViewMode, {"view": T, "mode": "COMPENSATION"}),
    (
        "alter view t as select 2",
        CreateView,
        {"view": T, "query_sql": "select 2", "existing": Existing.REQUIRED},
    ),
    ("drop view if exists db.t", DropView, {"view": DB_T, "if_exists": True}),
]


test_statements = parsing_test([*TABLES, *VIEWS])
