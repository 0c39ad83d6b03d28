"""Spark's errors about a translation name the piece of the model's own text."""

from __future__ import annotations

import pytest

from dbt.adapters.tablestore.dialect.sparks_errors import about_source, about_unmarked
from dbt.adapters.tablestore.dialect.translate import translation_of
from tablestore_engine.errors import ExecutionError, ParseError, SqlError

SQL = """select
  id,
  coalesce(name, 'x') glob lower('a*') as named,
  unknown_function(id + 1)
from t"""


@pytest.fixture(scope="module")
def translation():
    return translation_of("The model 'm'", SQL, "duckdb")


def marked(translation, word):
    """The line of a translation in which a word is, and the column of the word."""
    line = next(one for one in translation.text.split("\n") if word in one)
    return line, line.index(word) + 1


def test_a_construct_that_spark_cannot_parse_is_named_in_the_text_of_the_model(translation):
    found = about_source(ParseError("Syntax error"), "Syntax error.", *marked(translation, "LOWER"), [translation])
    assert found == (
        "The model 'm' in the dialect 'duckdb' has a construct that Spark's SQL does not have, in line 3, column 3: "
        "coalesce(name, 'x') glob lower('a*'). Spark says of the translation, which is in target/run: Syntax error. "
        "Write it in another way, or the model in Spark's SQL with `dialect: spark`."
    )


def test_other_errors_keep_their_message(translation):
    error = SqlError("Cannot resolve routine", hint="In dbt, a model")
    found = about_source(error, "Cannot", *marked(translation, "UNKNOWN_FUNCTION"), [translation])
    assert found is not None
    assert found.startswith(
        "Cannot resolve routine In dbt, a model\nIn the dialect 'duckdb', the model 'm' has this in"
    )
    assert found.endswith("line 4, column 3: unknown_function(id + 1).")


def test_a_function_that_nobody_knows_is_named_as_it_is_written(translation):
    given = "[UNRESOLVED_ROUTINE] Cannot resolve routine `UNKNOWN_FUNCTION` on search path.\nWrite xxhash64(value)."
    found = about_source(SqlError(given), "Cannot", *marked(translation, "UNKNOWN_FUNCTION"), [translation])
    assert found == (
        "The model 'm' in the dialect 'duckdb' calls the function unknown_function, which has no counterpart in "
        "Spark's SQL and is none of this warehouse, in line 4, column 3: unknown_function(id + 1). "
        "spark__xxhash64(value) is near to it. Write it with functions of Spark's, which have the prefix spark__ here, "
        "or in a macro; make a function of this name; or write the model in Spark's SQL with `dialect: spark`."
    )


def test_a_function_that_spark_does_not_have_is_named():
    translation = translation_of("The model 'm'", "select 1,\n  spark__nosuch(id)", "trino")
    given = "[UNRESOLVED_ROUTINE] Cannot resolve routine `NOSUCH` on search path."
    assert about_source(SqlError(given), "Cannot", *marked(translation, "NOSUCH"), [translation]) == (
        "The model 'm' in the dialect 'trino' calls the function spark__nosuch, but Spark has no function nosuch, in "
        "line 2, column 3: spark__nosuch(id). SHOW FUNCTIONS lists those that there are."
    )


def test_a_line_of_another_text_is_left_alone(translation):
    assert about_source(ParseError("x"), "x", "select 1 from hook", 3, [translation]) is None


def test_a_function_of_values_without_a_position_is_named():
    translation = translation_of("The model 'm'", "select justify_days(interval '35 days') from t", "postgres")
    given = "[UNRESOLVED_ROUTINE] Cannot resolve routine `JUSTIFY_DAYS` on search path."
    found = about_source(SqlError(given), "Cannot", *marked(translation, "JUSTIFY_DAYS"), [translation])
    assert found is not None
    assert "calls the function justify_days, which has no counterpart" in found
    assert "in line 1, column 8: justify_days(interval '35 days')." in found


def test_an_error_without_a_mark_names_the_dialect_and_the_call_where_it_is_the_only_one():
    translation = translation_of("The model 'm'", "select 1,\n  lower(upper(a)) from t", "trino")
    said = '[X] Can\'t extract a value from "upper(a)".'
    assert about_unmarked(SqlError(said), [translation]) == (
        f"{said}\nIn the dialect 'trino', the model 'm' has this in line 2, column 9: upper(a)."
    )
    assert about_unmarked(SqlError("[Y] Something else."), [translation]) == (
        "[Y] Something else.\nThe model 'm' is in the dialect 'trino'; its translation is in target/run."
    )
    assert about_unmarked(ExecutionError("[Y] Something else."), [translation]) is None
    assert about_unmarked(SqlError("[Y] Something else."), []) is None


def test_an_error_of_a_running_query_names_the_piece_that_is_shown():
    translation = translation_of("The model 'm'", "select a,\n  to_date(b) as d from t", "snowflake")
    line, column = marked(translation, "TO_DATE")
    said = f"[CAST_INVALID_INPUT] Malformed.\n== SQL ==\n{line}\n{' ' * (column - 1)}^^^^^^^^^^"
    found = about_unmarked(ExecutionError(said), [translation])
    assert found is not None
    assert found.endswith("In the dialect 'snowflake', the model 'm' has this in line 2, column 3: to_date(b).")


def test_the_operator_that_begins_at_a_mark_is_named_with_both_sides():
    translation = translation_of("The model 'm'", "select 1,\n  tags || state as x from t", "postgres")
    said = '[DATATYPE_MISMATCH.DATA_DIFF_TYPES] Cannot resolve "concat(tags, state)" due to data type mismatch'
    found = about_source(SqlError(said), "Cannot", *marked(translation, "tags"), [translation])
    assert found is not None
    assert found.endswith("the model 'm' has this in line 2, column 3: tags || state.")
