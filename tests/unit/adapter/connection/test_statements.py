"""Statements that leave something behind in their session."""

import pytest

from dbt.adapters.tablestore.connection.statements import changes_session


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
