"""Scripts, EXECUTE IMMEDIATE, variables and functions: which parts of the text are queries."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.script import ExecuteImmediate, QueriesInside, Script
from tablestore_engine.sql.statements.statement import Noop, PassThrough


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("begin insert into t values (1); end", ("insert into t values (1)",)),
        ("BEGIN NOT ATOMIC select 1; delete from t; END;", ("select 1", "delete from t")),
        (
            "begin merge into t using s on a when matched then delete; select case a when 1 then 2 end; end",
            ("merge into t using s on a when matched then delete", "select case a when 1 then 2 end"),
        ),
        ("begin show tables; end", ("show tables",)),
    ],
)
def test_a_script_of_plain_statements(text, statements):
    assert parse(text) == Script(sql=text, statements=statements)


# text: kind, and the queries (marked `q`) and expressions in it
PIECES = {
    "begin declare x int default 1; if x > (select max(a) from t) then select * from t; else set x = 2; end if; end": (
        "SCRIPT", ["x > (select max(a) from t)", "q select * from t"]),
    "begin for r as select * from t do select r.a; end for; for with c as (table u) table c do leave x; end for; end": (
        "SCRIPT", ["q select * from t", "q with c as (table u) table c"]),
    "begin case x when 1 then select 1; when (select a from t) then table u; else values (1); end case; end": (
        "SCRIPT", ["(select a from t)", "q table u"]),
    "begin l: loop leave l; end loop l; repeat set x = 1; until x > (select 1 from t) end repeat; end": (
        "SCRIPT", ["x > (select 1 from t)"]),
    "begin while x < 3 do begin select x from t; end; end while; end": ("SCRIPT", ["q select x from t"]),
    "begin declare exit handler for sqlexception, not found begin select 1 from t; end; select 2; end": (
        "SCRIPT", ["q select 1 from t"]),
    "begin declare continue handler for sqlstate value '22012' set x = (select 1 from t); create temp function f as 'x'; end": (  # noqa: E501
        "SCRIPT", ["x = (select 1 from t)"]),
    "begin declare c cursor for select * from t; open c; fetch c into x; close c; end": (
        "SCRIPT", ["q select * from t"]),
    "set var x = 1 + (select max(a) from t), y = 2": ("SET VARIABLE", ["x = 1 + (select max(a) from t), y = 2"]),
    "set variable (x, y) = (select a, b from t);": ("SET VARIABLE", ["(x, y) = (select a, b from t)"]),
    "create or replace temporary function f(x int default 1) returns table (a int) comment 'c' return select a from t": (  # noqa: E501
        "CREATE TEMPORARY FUNCTION", ["q select a from t"]),
    "create temporary function f() return 1 + (select max(a) from t);": (
        "CREATE TEMPORARY FUNCTION", ["1 + (select max(a) from t)"]),
}  # fmt: skip


@pytest.mark.parametrize("text", PIECES)
def test_queries_inside(text):
    kind, expected = PIECES[text]
    statement = parse(text)
    assert isinstance(statement, QueriesInside)
    assert statement.kind == kind
    assert ["q " * one.is_query + text[one.start : one.end] for one in statement.pieces] == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("execute immediate v", ("v", (), None)),
        ("execute immediate 'select ' || v", ("'select ' || v", (), None)),
        ("execute immediate 'select ?' using 1, v.x", ("'select ?'", (("1", None), ("v.x", "x")), None)),
        ("execute immediate 'a' using (1 as x, f(a, b) as y)", ("'a'", (("1", "x"), ("f(a, b)", "y")), None)),
        ("execute immediate v into a, b using 1 + 2", ("v", (("1 + 2", None),), "a, b")),
        ("execute immediate v using (1) into a", ("v", (("1", None),), "a")),
        ("execute immediate 'select 1' into a", ("'select 1'", (), "a")),
    ],
)
def test_execute_immediate(text, said):
    statement = parse(text)
    assert isinstance(statement, ExecuteImmediate)
    assert (statement.text_sql, statement.arguments, statement.into_sql) == said


@pytest.mark.parametrize(
    "text",
    [
        "declare x int",
        "declare x = 1",
        "set x = (select 1)",
        "set var x = (select 1)",
        "create temporary function f as 'x.Y'",
        "create temporary function f(x int) returns int return x + 1",
        "begin end",
        "begin select 1; values (2); end",
        "begin declare x int; set x = 1; select x; end",
    ],
)
def test_other_scripts_pass_untouched(text):
    assert parse(text) == PassThrough(sql=text)


@pytest.mark.parametrize("text", ["begin", "BEGIN;", "begin transaction", "start transaction read only", "end"])
def test_words_of_transactions_are_no_scripts(text):
    assert isinstance(parse(text), Noop)
