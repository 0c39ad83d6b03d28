"""The statement that EXECUTE IMMEDIATE makes: its text, with its parameters filled in.

Literals are taken as they are written. Everything else (variables, expressions) is computed by Spark first. So the
statement that comes out is read like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.script import ExecuteImmediate
from tablestore_engine.sql.statements.statement import Query
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.cursor import literal_text
from tablestore_engine.sql.tokens.lexer import END, tokenize
from tablestore_engine.sql.tokens.parameters import SqlText, with_parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PLAIN = ("tinyint", "smallint", "int", "bigint", "boolean")
_NESTED = ("array", "map", "struct", "binary", "variant")


def immediate_text(statement: ExecuteImmediate, spark: Callable[[], SparkSession]) -> str:
    """The text to execute.

    Raises:
        SqlError: the text is NULL, or no query where INTO takes its row; or a parameter has no literal.
    """
    text = literal_text(statement.text_sql)
    if text is None:
        text = _text(statement.text_sql, spark())
    if statement.arguments:
        values = [(name, SqlText(_literal(value, spark))) for value, name in statement.arguments]
        marked = any(token.key == "?" for token in tokenize(text))
        given = [value for _, value in values]
        text = with_parameters(text, given if marked else {name: value for name, value in values if name is not None})
    if statement.into_sql is None:
        return text
    inner = parse(text)
    if not isinstance(inner, Query):
        raise SqlError("EXECUTE IMMEDIATE … INTO needs a query.", hint="Leave INTO out.")
    return f"SET VAR ({statement.into_sql}) = ({inner.query_sql}\n)"


def _text(expression_sql: str, spark: SparkSession) -> str:
    with translated(expression_sql):
        row = spark.sql(f"SELECT {expression_sql}").first()
    if row is None or not isinstance(row[0], str):
        raise SqlError(f"EXECUTE IMMEDIATE needs the text of a statement, and {expression_sql} is not a text.")
    return row[0]


def _literal(value_sql: str, spark: Callable[[], SparkSession]) -> str:
    """A literal of the same value and type."""
    tokens = tokenize(value_sql)
    constant = constant_at(tokens, 0)
    if value_sql.upper() == "NULL" or (constant is not None and tokens[constant[1]].kind == END):
        return value_sql
    with translated(value_sql):
        frame = spark().sql(f"SELECT {value_sql} AS v")
        kind = frame.schema[0].dataType.simpleString()
        if kind.startswith(_NESTED):
            raise SqlError(f"The parameter {value_sql} of EXECUTE IMMEDIATE has the type {kind}, which has no literal.")
        row = frame.selectExpr("CAST(v AS STRING)").first()
    shown = None if row is None else row[0]
    if shown is None:
        return f"CAST(NULL AS {kind})"
    if kind in _PLAIN:
        return str(shown)
    return literal(shown) if kind == "string" else f"CAST({literal(shown)} AS {kind})"
