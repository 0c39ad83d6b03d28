"""CREATE, DROP, DESCRIBE and SHOW FUNCTION.

Spark keeps temporary functions, also those of a Java class; a function with a body in SQL or Python is the engine's.
"""

from __future__ import annotations

from dataclasses import replace

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.function import PYTHON, SQL, FunctionDefinition, Parameter
from tablestore_engine.sql.parse.parse_script import create_temporary_function
from tablestore_engine.sql.parse.parse_table import column_type
from tablestore_engine.sql.statements.function import (
    CreateFunction,
    DescribeFunction,
    DropFunction,
    RefreshFunction,
    ShowFunctions,
)
from tablestore_engine.sql.statements.statement import Existing, Statement, TableName
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import END, STRING, behind_type_part
from tablestore_engine.sql.types.type_names import spark_type

_PLAIN = (  # accepted characteristics that do not matter here
    ("CONTAINS", "SQL"),
    ("READS", "SQL", "DATA"),
    ("MODIFIES", "SQL", "DATA"),
    ("NO", "SQL"),
    ("SQL", "SECURITY", "DEFINER"),
    ("SQL", "SECURITY", "INVOKER"),
    ("CALLED", "ON", "NULL", "INPUT"),
    ("STABLE",),
)
_MORE_WORDS = (("PRECISION",), ("VARYING",), ("WITH", "TIME", "ZONE"), ("WITHOUT", "TIME", "ZONE"))  # of a type
_SCOPES = ("USER", "SYSTEM", "ALL")


def create_function(cursor: Cursor, verb: Existing, *, temporary: bool, aggregate: bool) -> Statement | None:
    """CREATE FUNCTION, starting after FUNCTION; None for a function that is Spark's."""
    if temporary:
        return create_temporary_function(cursor)
    existing = cursor.accept_existing(verb)
    name = cursor.table_name("a function name")
    if cursor.key == "AS" and cursor.tokens[cursor.i + 1].kind == STRING and not cursor.at_end:
        raise cursor.error(
            f"The function {name} of a Java class is not kept in the warehouse",
            kind=SqlError,
            hint="Use CREATE TEMPORARY FUNCTION, which lasts as long as the session, or write it in SQL or PYTHON.",
        )
    cursor.refuse_unfinished()
    definition = FunctionDefinition(_parameters(cursor), returns_sql=None, language="", body="", aggregate=aggregate)
    while not cursor.at_end:
        definition = _with_clause(cursor, definition)
    definition = replace(definition, language=definition.language or SQL)
    _check(cursor, name, definition)
    return CreateFunction(sql=cursor.text, function=name, definition=definition, existing=existing)


def _check(cursor: Cursor, name: TableName, definition: FunctionDefinition) -> None:
    """Raise a SqlError for a function that cannot be."""
    language, aggregate = definition.language, definition.aggregate
    if not definition.body:
        raise cursor.error("Expected RETURN and an expression, or AS $$ … $$")
    if language not in (SQL, PYTHON):
        raise SqlError(f"Functions in {language} are not supported.", hint="Write it in SQL or PYTHON.")
    if language == PYTHON and definition.returns_sql is None:
        raise SqlError(f"Function {name} is in Python and has no RETURNS.", hint="Add RETURNS and a type.")
    if aggregate and language == PYTHON and definition.handler is None:
        raise SqlError(
            "An aggregate function in Python is a class with the methods accumulate and finish.",
            hint="Write LANGUAGE PYTHON HANDLER = 'Class' AS $$ … $$.",
        )
    if aggregate and any(one.default_sql is not None for one in definition.parameters):
        raise SqlError("A parameter of an aggregate function cannot have a DEFAULT.", hint="Leave it out.")


def _parameters(cursor: Cursor) -> tuple[Parameter, ...]:
    """``(x INT DEFAULT 1 COMMENT '…', y STRING)``."""
    cursor.expect("(")
    found: list[Parameter] = []
    if cursor.accept(")"):
        return ()
    while True:
        name = cursor.name("a parameter")
        if any(one.name.lower() == name.lower() for one in found):
            raise cursor.error(f"Two parameters are named '{name}'", kind=SqlError)
        kind = spark_type(column_type(cursor, name))
        default = comment = None
        while cursor.key not in (",", ")") and not cursor.at_end:
            if cursor.accept("DEFAULT"):
                default = cursor.until(",", "COMMENT", what="a value after DEFAULT")
            elif cursor.accept("COMMENT"):
                comment = cursor.string()
            else:
                raise cursor.error(f"The parameter {name} is not understood")
        found.append(Parameter(name, kind, default, comment))
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return tuple(found)


def _with_clause(cursor: Cursor, made: FunctionDefinition) -> FunctionDefinition:
    """The definition with the clause that begins here; clauses are in any order."""
    if cursor.sees("RETURNS", "NULL"):
        cursor.expect("RETURNS", "NULL", "ON", "NULL", "INPUT")
        return made
    if cursor.accept("RETURNS"):
        if cursor.key == "TABLE":
            raise cursor.error("Functions that return a table are not supported", kind=SqlError, hint="Use a VIEW.")
        return replace(made, returns_sql=_return_type(cursor))
    if cursor.accept("LANGUAGE"):
        return replace(made, language=cursor.name("a language").upper())
    if cursor.accept("NOT", "DETERMINISTIC") or cursor.accept("VOLATILE"):
        return replace(made, deterministic=False)
    if cursor.accept("DETERMINISTIC") or cursor.accept("IMMUTABLE"):
        return replace(made, deterministic=True)
    if cursor.accept("COMMENT"):
        return replace(made, comment=cursor.string())
    if cursor.key in ("HANDLER", "RUNTIME_VERSION", "PACKAGES"):
        return _with_python_option(cursor, made)
    if cursor.accept("RETURN"):
        return replace(made, body=cursor.rest("an expression"))
    if cursor.accept("AS"):
        body = cursor.string("the body between $$ and $$").strip("\n")
        return replace(made, body=body if made.language == PYTHON else body.strip().rstrip(";"))
    if not any(cursor.accept(*words) for words in _PLAIN):
        raise cursor.error("This clause of CREATE FUNCTION is not understood")
    return made


def _return_type(cursor: Cursor) -> str:
    start = cursor.i
    cursor.name("a type")
    for words in _MORE_WORDS:
        cursor.accept(*words)
    while cursor.key in ("(", "<"):
        cursor.i = behind_type_part(cursor.tokens, cursor.i)
    return spark_type(cursor.slice(start, cursor.i))


def _with_python_option(cursor: Cursor, made: FunctionDefinition) -> FunctionDefinition:
    """``HANDLER = 'f'``, ``RUNTIME_VERSION = '3.11'``, ``PACKAGES = ('numpy', 'pandas')``."""
    word = cursor.key.lower()
    cursor.i += 1
    cursor.accept("=")
    if word != "packages":
        value = cursor.string()
        return replace(made, handler=value) if word == "handler" else _with_option(made, word, value)
    cursor.expect("(")
    names = [] if cursor.key == ")" else [cursor.string()]
    while cursor.accept(","):
        names.append(cursor.string())
    cursor.expect(")")
    return _with_option(made, word, ",".join(names))


def _with_option(made: FunctionDefinition, key: str, value: str) -> FunctionDefinition:
    return replace(made, options={**made.options, key: value})


def drop_function(cursor: Cursor) -> Statement | None:
    """DROP FUNCTION, starting after FUNCTION."""
    if_exists = cursor.accept_if_exists()
    name = cursor.table_name("a function name")
    cursor.expect_end()
    return DropFunction(sql=cursor.text, function=name, if_exists=if_exists)


def refresh_function(cursor: Cursor) -> Statement | None:
    """REFRESH FUNCTION, starting after FUNCTION."""
    name = cursor.table_name("a function name")
    cursor.expect_end()
    return RefreshFunction(sql=cursor.text, function=name)


def describe_function(cursor: Cursor) -> Statement | None:
    """DESCRIBE FUNCTION, starting after FUNCTION; None for an operator, or a name in quotes, of Spark's."""
    extended = cursor.key == "EXTENDED" and cursor.tokens[cursor.i + 1].kind != END
    if extended:
        cursor.i += 1
    if not cursor.token.is_name:
        return None
    parts = cursor.dotted("a function name")
    if not cursor.at_end or len(parts) > 3:
        return None
    cursor.i -= 2 * len(parts) - 1
    return DescribeFunction(sql=cursor.text, function=cursor.table_name(), extended=extended)


def show_functions(cursor: Cursor) -> Statement | None:
    """SHOW [USER | SYSTEM | ALL] FUNCTIONS [FROM db] [[LIKE] name or pattern], starting after SHOW."""
    scope = cursor.accept_one(*_SCOPES) or "ALL"
    cursor.expect("FUNCTIONS")
    database = cursor.database_name() if cursor.accept_one("FROM", "IN") else None
    pattern = None
    cursor.accept("LIKE")
    if cursor.token.kind == STRING:
        pattern = cursor.string()
    elif not cursor.at_end:
        name = cursor.table_name("a function name or a pattern")
        database, pattern = name.database or database, name.name
    cursor.expect_end()
    return ShowFunctions(
        sql=cursor.text, scope=scope, spark_sql=f"SHOW {scope} FUNCTIONS", database=database, pattern=pattern
    )
