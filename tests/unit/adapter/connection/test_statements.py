"""Statements that leave something behind in their session, and functions that macros mark as Spark's."""

import pytest

from dbt.adapters.tablestore.connection.statements import changes_session, in_sparks_names


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "select spark__timestampdiff(DAY, SPARK__date_trunc('DAY', a), b)",
            "select timestampdiff(DAY, date_trunc('DAY', a), b)",
        ),
        ("select 'spark__md5(x)', `spark__md5`(a) -- spark__md5(a)", None),
        ("select spark__md5, udfs.spark__md5(a), spark__ (a) from spark__t", None),
        ("select a", None),
        ("select spark__", None),
    ],
)
def test_marks_of_functions_are_taken_off(text, expected):
    assert in_sparks_names(text) == (text if expected is None else expected)
