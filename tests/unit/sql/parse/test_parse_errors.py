"""Statements that cannot run give one message, with the position and a hint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.errors import ParseError, SqlError
from tablestore_engine.sql.parse.parse import parse

REFUSED = [
    (
        "create table t using delta as select 1",
        "USING delta is refused at line 1, column 22",
        "Leave USING out",
    ),
    ("create table t (a int) location '/x'", "LOCATION is refused", "Leave it out"),
    ("create table t (a int) clustered by (a) sorted by (a) into 4 buckets", "SORTED BY", "primary key"),
    ("create table t (a int) cluster by (a)", "CLUSTER BY", "primary key"),
    ("create table t (a int) stored as orc", "STORED AS", "file.format"),
    ("create table t (a int) partitioned by (days(a))", "Partitions by an expression", "Add a column"),
    ("create external table t (a int)", "External tables", "parquet.`path`"),
    ("create temporary table t (a int)", "Temporary tables", "TEMPORARY VIEW"),
    (
        "create materialized view v as select 1",
        "Materialized views are not supported at line 1, column 8, near 'materialized'",
        "Use a VIEW, whose query runs when it is read, or a TABLE",
    ),
    ("create or replace materialized view v as select 1", "Materialized views are not supported", "VIEW"),
    ("create or refresh materialized view v as select 1", "Materialized views are not supported", "VIEW"),
    ("create materialized view if not exists v (a comment 'x') as select 1", "Materialized", "VIEW"),
    ("drop materialized view if exists v", "Materialized views are not supported", "VIEW"),
    ("alter materialized view v rename to w", "Materialized views are not supported", "VIEW"),
    ("refresh materialized view v", "Materialized views are not supported", "VIEW"),
    (
        "create streaming table t as select * from stream(u)",
        "Streaming tables are not supported at line 1, column 8, near 'streaming'",
        "INSERT or MERGE INTO",
    ),
    ("create or refresh streaming table t", "Streaming tables are not supported", "INSERT or MERGE INTO"),
    ("drop streaming table t", "Streaming tables are not supported", "INSERT or MERGE INTO"),
    ("create table t (a) partitioned by (b int) as select 1, 2", "names columns of the query", "Leave the types out"),
    ("create table t (a, b int)", "Column a has no type", ""),
    ("create table t (a int generated always as (b + 1))", "Generated columns", "in the query"),
    ("create table t (a int check (a > 1))", "CHECK constraint", "test"),
    ("create table t (a int, unique (a))", "UNIQUE constraint", "test"),
    ("create table t (a int, foreign key (a) references u (a))", "FOREIGN", "test"),
    ("create table t (a int primary key, b int, primary key (b))", "second primary key", "in one"),
    ("create table cat.db.t (a int)", "'cat.db.t' names another catalog", "database.table"),
    ("insert into a.b.c select 1", "another catalog", "database.table"),
    ("create schema a.b", "'a.b' is not a schema", ""),
    ("create schema a location '/x'", "LOCATION is refused", ""),
    (
        "merge into t using u on a = b when not matched then insert (s.f) values (1)",
        "'s.f' is not a column of t",
        "str",
    ),
    ("update t set a = 1 from u", "UPDATE … FROM", "MERGE INTO"),
    ("update t set a = b is distinct from c from u", "UPDATE … FROM", "MERGE INTO"),
    ("create table t clone u", "CREATE TABLE … CLONE is not supported", "AS SELECT"),
    ("create or replace table t shallow clone u version as of 3", "CREATE TABLE … CLONE", "AS SELECT"),
    ("create table if not exists t deep clone u", "CREATE TABLE … CLONE", "AS SELECT"),
    ("delete from t using u where t.a = u.a", "DELETE … USING", "MERGE INTO"),
    ("from t insert into u select a", "FROM … INSERT", "INSERT … SELECT"),
    ("insert into t replace using (a) select 1", "REPLACE WHERE", "MERGE INTO"),
    (
        "merge into t using u on a = b when not matched then insert (a, b) values (1)",
        "2 columns and 1 values",
        "",
    ),
    (
        "merge into t using u on a = b when not matched then insert (a, t.A) values (1, 2)",
        "INSERT lists column 'A' twice at line 1, column 64",
        "",
    ),
    (
        "merge into t using u on a = b when matched then delete when matched and c then update set d = 1",
        "This clause never applies, because a clause WHEN MATCHED without a condition comes before it, at line 1",
        "write it last",
    ),
    (
        "merge into t using u on a = b when not matched by source then delete when not matched by source then delete",
        "This clause never applies",
        "write it last",
    ),
    ("declare x int default 1 + (select max(a) from t)", "cannot hold a subquery at line 1, column 27", "SET VAR"),
    ("begin declare x int default (select 1 from t); end", "cannot hold a subquery", "SET VAR"),
    (
        "begin declare x int;\n insert into t\n select x; end",
        "'insert into t select x' cannot run in a script with variables or control flow at line 2, column 2",
        "Send it as a separate statement",
    ),
    ("begin if a then delete from t where b; end if; end", "'delete from t where b' cannot run in a script", ""),
    ("begin if a then show tables; end if; end", "'show tables' cannot run in a script", ""),
    ("begin while a do execute immediate b; end while; end", "'execute immediate b' cannot run", ""),
    (
        "select * from t where a /*+ OPTIONS('scan.snapshot-id' = '1') */",
        "The hint OPTIONS is not read here at line 1, column 25",
        "FROM t /*+ OPTIONS",
    ),
    ("select /*+ options('a' = 'b') */ * from t", "The hint OPTIONS is not read here", "TBLPROPERTIES"),
    ("insert /*+ OPTIONS('a' = 'b') */ into t select 1", "The hint OPTIONS", "INSERT INTO t"),
    (
        "merge into t using u /*+ OPTIONS('a' = 'b') */ on c when matched then delete",
        "The hint OPTIONS",
        "INSERT INTO t",
    ),
    ("insert /* x */ /*+ repartition(3) */ into t select 1", "A hint is not read here", "directly after SELECT"),
    ("call compact(table => a + 1)", "must be a constant", ""),
    ("comment on column a is 'x'", "Expected table.column", ""),
]
MALFORMED = [
    ("select 1; select 2", "A second statement starts at line 1, column 11", "one statement at a time"),
    ("insert into t\n  values ('a", "This quote is never closed at line 2, column 11", ""),
    ("delete from t where a = 1 /* x", "This comment is never closed", ""),
    ("create table", "Expected a table name at the end of the statement", ""),
    ("create table t", "has no columns", "AS SELECT"),
    ("create table t (a)", "Column a has no type", ""),
    ("create table t (a int", "Expected )", ""),
    ("create table t (a int, )", "Expected a column name", ""),
    ("create table t (a int) something", "should end here", ""),
    ("create table t (a int frobnicate) as", "", ""),
    ("create table t as", "Expected a query", ""),
    ("create table t tblproperties ('a' = ) as select 1", "Property 'a' needs a value", ""),
    ("insert t select 1", "Expected INTO or OVERWRITE", ""),
    ("insert into t", "Expected a query or VALUES", "VALUES"),
    ("insert into t (a, 1) select 1", "Expected a column name", ""),
    ("update t where a = 1", "Expected SET", ""),
    ("update t set a", "Expected =", ""),
    ("update t set a =", "Expected a value", ""),
    ("delete t", "Expected FROM", ""),
    ("delete from t where", "Expected a condition", ""),
    ("merge into t using u on", "Expected a condition", ""),
    ("merge into t using u on a = b", "Expected WHEN MATCHED", ""),
    ("merge into t using u on a = b when matched then insert *", "Expected UPDATE or DELETE", ""),
    ("merge into t using u on a = b when not matched then delete", "Expected INSERT", ""),
    ("merge into t using (select 1 on a = b when matched then delete", "never closed", ""),
    ("alter table t", "Expected what to change", ""),
    ("alter table t add columns (a)", "Column a has no type", ""),
    ("alter table t rename to", "Expected the new name", ""),
    ("drop table", "Expected a table name", ""),
    ("drop table a, b", "should end here", ""),
    ("truncate table t where a = 1", "should end here", ""),
    ("create view v", "Expected a query", ""),
    ("create view v (a int) as select 1", "Expected )", ""),
    ("use a b", "should end here", ""),
    ("call compact(a => 1, 2)", "positional argument", ""),
    ("show columns t", "Expected FROM", ""),
    ("describe t a b", "should end here", ""),
]


@pytest.mark.parametrize(("text", "message", "hint"), [*REFUSED, *MALFORMED])
def test_errors(text: str, message: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        parse(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize("text", [text for text, _, _ in MALFORMED])
def test_malformed_texts_are_parse_errors(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


WORDS = [
    "create",
    "or",
    "replace",
    "table",
    "view",
    "schema",
    "t",
    "db",
    ".",
    "(",
    ")",
    ",",
    "int",
    "primary",
    "key",
    "as",
    "select",
    "1",
    "insert",
    "into",
    "overwrite",
    "values",
    "update",
    "set",
    "a",
    "=",
    "where",
    "delete",
    "from",
    "merge",
    "using",
    "on",
    "when",
    "matched",
    "then",
    "not",
    "*",
    "alter",
    "add",
    "columns",
    "rename",
    "to",
    "drop",
    "show",
    "tables",
    "describe",
    "with",
    "x",
    "partition",
    "by",
    "comment",
    "'x'",
    "`q`",
    "if",
    "exists",
    "call",
    "=>",
    ";",
    "explain",
    "truncate",
    "'open",
    "/*",
    "{",
    "#",
    "é",
]


@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join))
def test_any_text_is_a_statement_or_a_sql_error(text: str) -> None:
    try:
        statement = parse(text)
    except SqlError as error:
        assert str(error)
    else:
        assert statement.sql == text or text.startswith("explain")
