"""What the console says, and how errors read."""

import pytest
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.tablestore.connection.errors import dbt_error, short_cause
from dbt.adapters.tablestore.connection.response import response
from tablestore_engine.errors import ConflictError, JavaNotFoundError, PrimaryKeyError


@pytest.mark.parametrize(
    ("kind", "rows", "message"),
    [
        ("UPSERT", 1204, "UPSERT 1,204 rows"),
        ("INSERT", 1, "INSERT 1 row"),
        ("DELETE", 0, "DELETE 0 rows"),
        ("CREATE VIEW", None, "CREATE VIEW"),
    ],
)
def test_messages(kind, rows, message):
    found = response(kind, rows)
    assert str(found) == message
    assert (found.code, found.rows_affected) == (kind, rows)


def test_a_query_is_just_ok():
    assert str(response("SELECT")) == "OK"


def test_engine_errors_keep_their_message_and_hint():
    found = dbt_error(PrimaryKeyError("Two rows have the key 7.", hint="Deduplicate the query."))
    assert isinstance(found, DbtDatabaseError)
    assert found.msg == "Two rows have the key 7. Deduplicate the query."


def test_a_conflict_says_that_it_may_be_tried_again():
    assert dbt_error(ConflictError("Another commit won.")).msg.endswith("Running it again may succeed.")


def test_a_missing_java_is_no_database_error():
    found = dbt_error(JavaNotFoundError("No Java was found.", hint="Install it."))
    assert isinstance(found, DbtRuntimeError)
    assert not isinstance(found, DbtDatabaseError)


def test_dbt_errors_stay_what_they_are():
    error = DbtRuntimeError("x")
    assert dbt_error(error) is error


@pytest.mark.parametrize(
    "text",
    [
        "[PARSE_ERROR] no\n\nJVM stacktrace:\norg.apache.spark.X\n\tat org.apache.Y(Z.scala:1)",
        "[PARSE_ERROR] no\n\tat org.apache.Y(Z.scala:1)",
        "[PARSE_ERROR] no;\n'Project ['a]\n+- Relation",
    ],
)
def test_stacks_and_plans_are_cut_off(text):
    assert short_cause(RuntimeError(text)) == "[PARSE_ERROR] no"


def test_a_cancelled_statement_says_so():
    error = RuntimeError("org.apache.spark.SparkException: Job 3 cancelled part of cancelled job tags x")
    assert short_cause(error) == "The statement was cancelled."
    assert short_cause(KeyError()) == "KeyError"
