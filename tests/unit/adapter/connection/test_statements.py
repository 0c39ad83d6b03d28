"""Texts of several statements."""

import pytest

from dbt.adapters.tablestore.connection.statements import changes_session, split


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
    ],
)  # fmt: skip
def test_split(text, statements):
    assert split(text) == statements


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("set time zone 'UTC'", True),
        ("/* c */ create or replace temporary view v as select 1", True),
        ("create temp function f as 'x'", True),
        ("create or replace table t as select 1", False),
        ("select 1", False),
        ("use other", True),
    ],
)
def test_statements_that_change_the_session(statement, changes):
    assert changes_session(statement) == changes
