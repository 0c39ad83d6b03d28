"""CREATE: finds the kind of object, and parses schemas and views.

Materialized views and streaming tables are refused for every verb. Spark supports them only in its pipelines: it would
report an unrelated error, or read REFRESH MATERIALIZED VIEW v as a path and do nothing.
"""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.view import COMPENSATION, EVOLUTION, TYPE_EVOLUTION
from tablestore_engine.sql.parse import parse_foreign
from tablestore_engine.sql.parse.parse_function import create_function
from tablestore_engine.sql.parse.parse_table import NO_COLLATION, create_table
from tablestore_engine.sql.statements.schema import CreateSchema
from tablestore_engine.sql.statements.statement import Existing, PassThrough, Statement
from tablestore_engine.sql.statements.view import CreateView
from tablestore_engine.sql.tokens.cursor import Cursor, properties


def create(cursor: Cursor) -> Statement | None:
    """Any CREATE or REPLACE; None for statements that are Spark's."""
    cursor.accept("CREATE")
    refreshed = cursor.accept("OR", "REFRESH")
    replace = not refreshed and cursor.accept("OR", "REPLACE")
    refuse_kept_up(cursor)
    existing = Existing.REPLACED if replace else Existing.REFUSED
    bare = not replace and cursor.accept("REPLACE")
    if cursor.accept_one("SCHEMA", "DATABASE", "NAMESPACE"):
        cursor.refuse_unfinished()
        return _create_schema(cursor)
    external = cursor.accept("EXTERNAL")
    if cursor.accept("TABLE"):
        cursor.refuse_unfinished()
        if external:
            cursor.i -= 1
            raise cursor.error(
                "External tables are not supported",
                kind=SqlError,
                hint="Read files by parquet.`path`, or create a temporary view USING their format.",
            )
        return create_table(cursor, Existing.REQUIRED if bare else existing)
    if cursor.key == "INDEX":
        return parse_foreign.index(cursor, "CREATE INDEX")
    is_global = cursor.accept("GLOBAL")
    temporary = cursor.accept_one("TEMPORARY", "TEMP", "LOCAL") is not None
    cursor.accept_one("TEMPORARY", "TEMP")
    aggregate = cursor.sees("AGGREGATE", "FUNCTION")
    if aggregate:
        cursor.i += 1
    if cursor.accept("FUNCTION"):
        return create_function(cursor, existing, temporary=temporary, aggregate=aggregate)
    if cursor.accept("TABLE"):
        raise cursor.error("Temporary tables are not supported", kind=SqlError, hint="Use CREATE TEMPORARY VIEW.")
    if cursor.accept("VIEW"):
        cursor.refuse_unfinished()
        return _create_view(cursor, existing, temporary=temporary or is_global, is_global=is_global)
    return None


def refuse_kept_up(cursor: Cursor) -> None:
    """Raises SqlError when MATERIALIZED VIEW, STREAMING TABLE or FLOW comes next, after any verb."""
    if cursor.sees("MATERIALIZED", "VIEW"):
        raise cursor.error(
            "Materialized views are not supported",
            kind=SqlError,
            hint="Use a VIEW, whose query runs when it is read, or a TABLE … AS SELECT, which keeps its rows.",
        )
    if cursor.key == "FLOW" and cursor.tokens[cursor.i + 1].is_name:
        raise cursor.error("A FLOW is not supported", kind=SqlError, hint="INSERT or MERGE the new rows.")
    if cursor.sees("STREAMING", "TABLE"):
        raise cursor.error(
            "Streaming tables are not supported",
            kind=SqlError,
            hint="Use a TABLE, and add new rows by INSERT or MERGE INTO.",
        )


def _create_schema(cursor: Cursor) -> Statement:
    if_not_exists = cursor.accept_if_not_exists()
    database = cursor.database_name()
    comment, options = None, {}
    while not cursor.at_end:
        if cursor.accept("COMMENT"):
            comment = cursor.comment(comment)
        elif cursor.accept("WITH"):
            if not cursor.accept_one("DBPROPERTIES", "PROPERTIES"):
                raise cursor.error("Expected DBPROPERTIES")
            options.update(properties(cursor))
        elif cursor.key == "LOCATION":
            raise cursor.error("A schema is a folder of the warehouse, so LOCATION is refused", kind=SqlError)
        elif cursor.key == "DEFAULT":
            raise cursor.error(NO_COLLATION[0], kind=SqlError, hint=NO_COLLATION[1])
        else:
            cursor.expect_end()
    return CreateSchema(
        sql=cursor.text, database=database, if_not_exists=if_not_exists, comment=comment, properties=options
    )


def view_mode(cursor: Cursor) -> str:
    """The mode behind WITH SCHEMA: what a view does when its tables change. Raises SqlError for BINDING."""
    if cursor.key == "BINDING":
        raise cursor.error(
            "A view WITH SCHEMA BINDING is not supported",
            kind=SqlError,
            hint="WITH SCHEMA COMPENSATION keeps the types of its columns by casts; WITH SCHEMA TYPE EVOLUTION, the "
            "default, takes the types of now.",
        )
    if cursor.accept("TYPE", "EVOLUTION"):
        return TYPE_EVOLUTION
    found = cursor.accept_one(COMPENSATION, EVOLUTION)
    if found is None:
        raise cursor.error("Expected COMPENSATION, TYPE EVOLUTION or EVOLUTION")
    return found


def _create_view(cursor: Cursor, verb: Existing, *, temporary: bool, is_global: bool) -> Statement:
    existing = cursor.accept_existing(verb)
    name = cursor.table_name("a view name")
    columns: list[tuple[str, str | None]] = []
    if cursor.accept("("):
        while True:
            column = cursor.name("a column name")
            if temporary and cursor.key not in ("COMMENT", ",", ")"):
                return PassThrough(sql=cursor.text)  # a temporary view USING a format, with typed columns
            columns.append((column, cursor.string() if cursor.accept("COMMENT") else None))
            if not cursor.accept(","):
                break
        cursor.expect(")")
    comment: str | None = None
    mode: str | None = None
    options: dict[str, str] = {}
    while not cursor.at_end and not cursor.accept("AS"):
        if cursor.accept("COMMENT"):
            comment = cursor.comment(comment)
        elif cursor.accept("TBLPROPERTIES"):
            options.update(properties(cursor))
        elif cursor.accept("WITH", "SCHEMA"):
            mode = view_mode(cursor)
        elif cursor.sees("WITH", "METRICS"):
            raise cursor.error("Metric views are not supported", kind=SqlError, hint="Use a VIEW AS SELECT ….")
        elif cursor.sees("DEFAULT", "COLLATION"):
            raise cursor.error(NO_COLLATION[0], kind=SqlError, hint=NO_COLLATION[1])
        elif cursor.key == "USING" and temporary:
            return PassThrough(sql=cursor.text)
        else:
            raise cursor.error("Expected AS and a query")
    prefix = cursor.text[: cursor.token.start]
    if not cursor.sees_query():
        raise cursor.error("Expected a query")
    return CreateView(
        sql=cursor.text,
        view=name,
        query_sql=cursor.rest(),
        columns=tuple(columns),
        mode=mode,
        comment=comment,
        options=options,
        existing=existing,
        temporary=temporary,
        is_global=is_global,
        prefix=prefix,
    )
