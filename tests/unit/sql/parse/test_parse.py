"""Statements of no topic, of schemas, and those that are Spark's: each case names the fields that it sets."""

from __future__ import annotations

import pytest
from support.parsed import DB_T, Case, T, parsing_test

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.row import (
    InsertInto,
)
from tablestore_engine.sql.statements.schema import (
    AlterSchema,
    CreateSchema,
    DropSchema,
    Use,
)
from tablestore_engine.sql.statements.script import ResetSession, ResetSessionOption
from tablestore_engine.sql.statements.show import ShowCatalogs
from tablestore_engine.sql.statements.statement import (
    Call,
    Explain,
    Noop,
    PassThrough,
    Query,
    QueryInside,
    TableName,
)
from tablestore_engine.sql.statements.table import (
    CacheTable,
    DropTable,
    Truncate,
    UncacheTable,
)

SCHEMAS: list[Case] = [
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
OTHERS: list[Case] = [
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
    ("reset", ResetSession, {"setting": None}),
    ("reset spark.sql.ansi.enabled;", ResetSession, {"setting": "spark.sql.ansi.enabled"}),
    ("reset table-storage.bucket", ResetSessionOption, {"option": "bucket"}),
    ("begin", Noop, {}),
    ("START TRANSACTION;", Noop, {}),
    ("commit work", Noop, {}),
    ("show catalogs like 't*'", ShowCatalogs, {"like": "t*"}),
    ("", Noop, {}),
    (" ; -- nothing", Noop, {}),
]
PASSED = [
    "set spark.sql.ansi.enabled = false",
    "set x = (select 1)",
    "describe function +",
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
    "call ice.system.expire_snapshots('t')",
    "declare x int = 5",
    "msck something",
    "refresh '/path'",
    "describe procedure lake.system.p",
    "show procedures in lake.system",
    "something else 'that never ends",
]


test_statements = parsing_test([*SCHEMAS, *OTHERS])


@pytest.mark.parametrize("text", PASSED)
def test_statements_of_spark_pass_untouched(text: str) -> None:
    assert parse(text) == PassThrough(sql=text)


def test_explain_of_a_statement() -> None:
    statement = parse("explain extended insert into t select 1")
    assert isinstance(statement, Explain)
    assert statement.mode == "EXTENDED"
    assert isinstance(statement.statement, InsertInto)


def test_a_statement_in_a_literal_is_that_statement() -> None:
    statement = parse("execute immediate 'insert into t ' 'values (''x'')';")
    assert isinstance(statement, InsertInto)
    assert (statement.table, statement.query_sql) == (T, "values ('x')")


def test_settings_of_paimon_need_no_backquotes():
    """Spark takes names with a hyphen or a star between backquotes only."""
    for text, sql in (
        ("SET spark.paimon.write.merge-schema = true", "SET `spark.paimon.write.merge-schema` = true"),
        ("set spark.paimon.*.*.t.scan.snapshot-id=3", "SET `spark.paimon.*.*.t.scan.snapshot-id`=3"),
        ("SET spark.paimon.write-only", "SET `spark.paimon.write-only`"),
        ("RESET spark.paimon.write-only", "RESET `spark.paimon.write-only`"),
        ("SET spark.sql.ansi.enabled = true", "SET spark.sql.ansi.enabled = true"),
    ):
        assert parse(text).sql == sql
    assert parse("RESET `spark.sql.ansi.enabled`").setting == "spark.sql.ansi.enabled"


@pytest.mark.parametrize("text", ["use catalog tablestore", "SET CATALOG 'Paimon'", "use catalog spark_catalog"])
def test_our_own_catalog_is_sparks_first_one(text):
    assert parse(text) == PassThrough(sql="SET CATALOG spark_catalog")


@pytest.mark.parametrize("text", ["use catalog other", "SET CATALOG 'other'", "set catalog `other`;"])
def test_another_catalog_is_one_of_spark(text):
    """Spark knows `SET CATALOG` only."""
    assert parse(text) == PassThrough(sql="SET CATALOG `other`")
