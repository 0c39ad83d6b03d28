"""Texts of several statements, and scripts, which are one."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.tokens.split_statements import split


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("select 1", ["select 1"]),
        ("select 1;", ["select 1"]),
        ("select ';' ; select `a;b` -- c;d\n; /* ;e */ select 2;", ["select ';'", "select `a;b` -- c;d", "/* ;e */ select 2"]),  # noqa: E501
        ("", []),
        (" ; ;\n", []),
        ("-- nothing\n/* at all */", []),
        ("commit;", []),
        ("BEGIN; insert into t values (1); COMMIT", ["insert into t values (1)"]),
        ("start transaction read only", []),
        ("begin declare x int; set x = 1; select x; end", ["begin declare x int; set x = 1; select x; end"]),
        ("select 'it''s; \\'ok;'", ["select 'it''s; \\'ok;'"]),
        ("begin select 1; end; select 2", ["begin select 1; end", "select 2"]),
        ("begin if a then select 1; else begin select 2; end; end if; end", ["begin if a then select 1; else begin select 2; end; end if; end"]),  # noqa: E501
        ("begin select case a when 1 then 2 end; case a when 1 then select 1; end case; end; x", ["begin select case a when 1 then 2 end; case a when 1 then select 1; end case; end", "x"]),  # noqa: E501
        ("begin l: begin select 1 as begin, t.end; end l; end; x", ["begin l: begin select 1 as begin, t.end; end l; end", "x"]),  # noqa: E501
        ("begin declare exit handler for sqlexception begin select 1; end; select 2; end; x", ["begin declare exit handler for sqlexception begin select 1; end; select 2; end", "x"]),  # noqa: E501
        ("begin while a do repeat select 1; until b end repeat; end while; loop leave l; end loop; end; x", ["begin while a do repeat select 1; until b end repeat; end while; loop leave l; end loop; end", "x"]),  # noqa: E501
        ("begin end; x", ["begin end", "x"]),
        ("begin not atomic select 1; end; x", ["begin not atomic select 1; end", "x"]),
        ("begin select 1; select 2", ["begin select 1; select 2"]),
        ("select begin from t; select 2", ["select begin from t", "select 2"]),
        ("select handler, begin from t; select 2", ["select handler, begin from t", "select 2"]),
        ("begin select handler, begin from t; end; x", ["begin select handler, begin from t; end", "x"]),
        ("begin declare handler for not found, sqlstate value '22012', begin begin select 1; end; end; x", ["begin declare handler for not found, sqlstate value '22012', begin begin select 1; end; end", "x"]),  # noqa: E501
        ("begin declare exit handler for c select begin from t; end; x", ["begin declare exit handler for c select begin from t; end", "x"]),  # noqa: E501
        ("begin declare exit handler", ["begin declare exit handler"]),
        ("create view procedure as select begin from s; drop table x", ["create view procedure as select begin from s", "drop table x"]),  # noqa: E501
        ("create table function as select begin from s; x", ["create table function as select begin from s", "x"]),
        ("create function begin() returns int return select 1 as begin from t; x", ["create function begin() returns int return select 1 as begin from t", "x"]),  # noqa: E501
        ("create or replace temporary function if not exists begin (begin int) returns int begin begin return 1; end; end; x", ["create or replace temporary function if not exists begin (begin int) returns int begin begin return 1; end; end", "x"]),  # noqa: E501
        ("create procedure p() as begin select 1; end; x", ["create procedure p() as begin select 1; end", "x"]),
        ("create or", ["create or"]),
        ("create", ["create"]),
        ("create function f() returns int begin return 1; end; x", ["create function f() returns int begin return 1; end", "x"]),  # noqa: E501
        ("begin work; update t set a = case when b then 1 end; rollback work", ["update t set a = case when b then 1 end"]),  # noqa: E501
        ("select (1; select 2)", ["select (1", "select 2)"]),
        ("select ';' ; -- a; b\n insert into t values (1);;\n /* ; */ select 2", ["select ';'", "-- a; b\n insert into t values (1)", "/* ; */ select 2"]),  # noqa: E501
    ],
)  # fmt: skip
def test_split(text, statements):
    assert split(text) == statements
