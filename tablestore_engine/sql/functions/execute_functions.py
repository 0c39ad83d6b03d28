"""Executes the statements about functions. A name that is not of the warehouse is left to Spark."""

from __future__ import annotations

from collections.abc import Iterator

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.function import PYTHON, SQL, Function, Parameter
from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.queries.session_functions import check_python, is_session_function, made_here
from tablestore_engine.sql.pinned_queries.temporary_objects import refuse_temporary, refuse_temporary_views
from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.query.function_calls import function_calls
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.function import (
    CreateFunction,
    DescribeFunction,
    DropFunction,
    RefreshFunction,
    ShowFunctions,
)
from tablestore_engine.sql.statements.statement import Existing, TableName
from tablestore_engine.sql.tokens.patterns import matching
from tablestore_engine.sql.write_statements.statement_context import RowContext


def execute_create_function(statement: CreateFunction, context: RowContext) -> StatementResult:
    """CREATE FUNCTION: Spark and Python check it first; then it is one file."""
    database, name = context.identifier(statement.function)
    functions = context.catalog.functions
    exists = functions.exists(database, name)
    if exists and statement.existing is Existing.KEPT:
        return StatementResult("CREATE FUNCTION")
    if exists and not statement.existing.is_replaced:
        raise functions.already_exists(database, name)
    function = statement.definition.named(database, name)
    if function.language == PYTHON:
        check_python(function)
    if _calls_itself(function, database, name, context):
        raise SqlError(
            f"Function '{function.full_name}' calls itself.",
            hint="Write it without recursion, or in Python.",
        )
    frames, what = context.frames(only_columns=True), f"Function '{function.full_name}'"
    text = f"SELECT {', '.join(_texts(function)) or '1'}"
    refuse_temporary_views(frames.spark, what, sorted({r.name for r in references(text) if r.database is None}))
    frames.name_in_session(function)
    refuse_temporary(frames.spark, what, text, frames.bound(f"{text}{_nulls(function)}", database).text)
    existing = statement.existing
    functions.create(database, name, function, replace=existing.is_replaced, if_not_exists=existing is Existing.KEPT)
    return StatementResult("CREATE FUNCTION")


def _calls_itself(function: Function, database: str, name: str, context: RowContext) -> bool:
    """Whether a function in SQL calls its own name, unless Spark has a function of this name."""
    calls = (call for text in _texts(function) for call in function_calls(text))
    own = {call.parts[:-1] for call in calls if call.parts[-1].lower() == name.lower()}
    if any(parts and parts[0].lower() == database.lower() for parts in own):
        return True
    return () in own and not _is_sparks(name, context)


def _texts(function: Function) -> Iterator[str]:
    """The expressions in SQL that define a function, in parentheses."""
    if function.language == SQL:
        yield f"({function.body}\n)"
    for one in function.parameters:
        if one.default_sql is not None:
            yield f"({one.default_sql})"


def _nulls(function: Function) -> str:
    """The FROM of a query in which the parameters of a function are columns."""
    typed = [f"CAST(NULL AS {one.type_sql}) AS {quoted_name(one.name)}" for one in function.parameters]
    return f" FROM (SELECT {', '.join(typed)})" if typed else ""


def execute_drop_function(statement: DropFunction, context: RowContext) -> StatementResult:
    """DROP FUNCTION. Raises FunctionNotFound, unless Spark has one of that name."""
    database, name = context.identifier(statement.function)
    functions = context.catalog.functions
    if not functions.exists(database, name) and statement.function.database is None and _is_sparks(name, context):
        return _of_spark(statement.sql, "DROP FUNCTION", context)
    functions.drop(database, name, if_exists=statement.if_exists)
    return StatementResult("DROP FUNCTION")


def execute_refresh_function(statement: RefreshFunction, context: RowContext) -> StatementResult:
    """REFRESH FUNCTION: each statement reads functions as they are now. Raises FunctionNotFound, unless Spark has one
    of that name."""
    database, name = context.identifier(statement.function)
    if statement.function.database is None and _is_sparks(name, context):
        return _of_spark(statement.sql, "REFRESH FUNCTION", context)
    context.catalog.functions.load(database, name)
    return StatementResult("REFRESH FUNCTION")


def execute_describe_function(statement: DescribeFunction, context: RowContext) -> StatementResult:
    """DESCRIBE FUNCTION, in the form of Spark's answer."""
    function = _kept(statement.function, context)
    if function is None:
        return _of_spark(statement.sql, "DESCRIBE FUNCTION", context)
    rows = [(line,) for line in described(function, extended=statement.extended)]
    return StatementResult("DESCRIBE FUNCTION", columns=("function_desc",), types=("string",), rows=rows)


def execute_show_functions(statement: ShowFunctions, context: RowContext) -> StatementResult:
    """SHOW FUNCTIONS: those of a database of the warehouse as `database.name`, and those of Spark."""
    database = context.catalog.require_database(statement.database or context.database)
    found = (
        [] if statement.scope == "SYSTEM" else matching(context.catalog.functions.names(database), statement.pattern)
    )
    names = [f"{database}.{name}" for name in found]
    with translated():
        pattern = "" if statement.pattern is None else f" LIKE {quoted_text(statement.pattern)}"
        spark = context.spark()
        theirs = [row[0] for row in spark.sql(f"{statement.spark_sql}{pattern}").collect()]
    names += [name for name in theirs if name not in made_here(spark)]
    return StatementResult(
        "SHOW FUNCTIONS", columns=("function",), types=("string",), rows=[(name,) for name in sorted(names)]
    )


def _kept(name: TableName, context: RowContext) -> Function | None:
    """The function of the warehouse that a name means; None for one that is Spark's, or does not exist."""
    database = name.database or context.database
    if not context.catalog.database_exists(database):
        return None
    database = context.catalog.require_database(database)
    if not context.catalog.functions.exists(database, name.name):
        return None
    if name.database is None and _is_sparks(name.name, context):
        return None
    return context.catalog.functions.load(database, name.name)


def _is_sparks(name: str, context: RowContext) -> bool:
    return is_session_function(context.spark(), name)


def _of_spark(sql: str, kind: str, context: RowContext) -> StatementResult:
    with translated():
        frame = context.spark().sql(sql)
    return StatementResult(kind, dataframe=frame if frame.columns else None)


def described(function: Function, *, extended: bool) -> Iterator[str]:
    """The lines of DESCRIBE FUNCTION."""
    yield f"Function:      {function.full_name}"
    yield f"Type:          {function.kind}"
    for number, one in enumerate(function.parameters):
        yield f"{'Input:' if not number else '':<15}{_signed(one)}"
    if not function.parameters:
        yield "Input:         ()"
    yield f"Returns:       {function.returns_sql or 'the type of its body'}"
    if not extended:
        return
    if function.comment is not None:
        yield f"Comment:       {function.comment}"
    yield f"Language:      {function.language}"
    if function.deterministic is not None:
        yield f"Deterministic: {str(function.deterministic).lower()}"
    if function.handler is not None:
        yield f"Handler:       {function.handler}"
    for key, value in function.options.items():
        yield f"{key.replace('_', ' ').capitalize() + ':':<15}{value}"
    yield f"Body:          {function.body}"


def _signed(one: Parameter) -> str:
    default = "" if one.default_sql is None else f" DEFAULT {one.default_sql}"
    comment = "" if one.comment is None else f" {quoted_text(one.comment)}"
    return f"{one.name} {one.type_sql}{default}{comment}"
