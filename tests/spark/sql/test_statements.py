"""Spark's own parser judges the door: over the statements under `statements/`, whatever Spark reads is ours, Spark's or
refused with a message, and the tables that we find are those that Spark's plan names.
"""

from __future__ import annotations

import pytest
from support.spark_parser import SparkParser, SparkPlan
from support.statement_table import StatementCase, statement_cases, tables_of

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.function import (
    CreateFunction,
    DescribeFunction,
    DropFunction,
    RefreshFunction,
    ShowFunctions,
)
from tablestore_engine.sql.statements.script import QueriesInside
from tablestore_engine.sql.statements.statement import PassThrough, Query, QueryInside, Statement

OFF_BY_DEFAULT = ("cursorEnabled", "continueHandlerEnabled")


@pytest.fixture(scope="module")
def parser(spark):
    for one in OFF_BY_DEFAULT:
        spark.conf.set(f"spark.sql.scripting.{one}", "true")
    yield SparkParser(spark)
    for one in OFF_BY_DEFAULT:
        spark.conf.unset(f"spark.sql.scripting.{one}")


@pytest.mark.parametrize("case", statement_cases(), ids=lambda case: case.id)
def test_spark_judges(case: StatementCase, parser: SparkParser) -> None:
    plan = parser.read(case.sql)
    assert (plan is not None) == (case.verdict in ("ours", "spark", "refused")), "whether Spark reads it"
    if case.verdict == "refused":
        with pytest.raises(SqlError) as refusal:
            parse(case.sql)
        assert case.fragment in str(refusal.value)
    elif case.verdict == "unread":
        _check_unread(case)
    else:
        _check_tables(case, parse(case.sql), plan, parser)


def _check_unread(case: StatementCase) -> None:
    """We refuse it, or Spark does: it gets every query as it was written."""
    try:
        statement = parse(case.sql)
    except SqlError as refusal:
        assert str(refusal)
    else:
        assert isinstance(statement, (PassThrough, Query, QueryInside))


def _check_tables(case: StatementCase, statement: Statement, plan: SparkPlan | None, parser: SparkParser) -> None:
    assert isinstance(statement, PassThrough) == (case.verdict == "spark"), "whether Spark gets it untouched"
    if plan is None:
        return
    if case.verdict == "spark":
        assert not plan.reads
    else:
        assert tables_of(statement) == (_of_function(statement, parser) or plan).names


def _of_function(statement: Statement, parser: SparkParser) -> SparkPlan | None:
    """The plan of a function's body, which the function's own plan keeps as text; None for other statements."""
    if isinstance(statement, CreateFunction):
        return parser.read(f"SELECT ({statement.definition.body})")
    if isinstance(statement, (DropFunction, DescribeFunction, RefreshFunction, ShowFunctions)):
        return SparkPlan("", frozenset(), frozenset())
    if not isinstance(statement, QueriesInside) or "FUNCTION" not in statement.kind:
        return None
    (body,) = statement.pieces
    return parser.read(("" if body.is_query else "SELECT ") + statement.sql[body.start : body.end])
