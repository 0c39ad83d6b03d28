"""SHOW, DESCRIBE, ANALYZE and CALL."""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.table.predicate import Constant
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.parse import parse_function
from tablestore_engine.sql.parse.parse_insert import partition_spec
from tablestore_engine.sql.statements.layout import AnalyzeTable, AnalyzeTables
from tablestore_engine.sql.statements.schema import DescribeSchema, ShowCurrentSchema, ShowSchemas
from tablestore_engine.sql.statements.show import (
    Describe,
    DescribeProcedure,
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowPartitions,
    ShowProcedures,
    ShowTablePartition,
    ShowTables,
    ShowTblProperties,
    ShowViews,
)
from tablestore_engine.sql.statements.statement import (
    PROCEDURE_SCHEMAS,
    Call,
    PassThrough,
    QueryInside,
    Statement,
    TableName,
)
from tablestore_engine.sql.statements.tag import ShowTags
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS, Cursor, property_key
from tablestore_engine.sql.tokens.lexer import END, STRING

_SCHEMAS = ("SCHEMAS", "DATABASES", "NAMESPACES")
_SCHEMA = ("SCHEMA", "DATABASE", "NAMESPACE")


def show(cursor: Cursor) -> Statement | None:
    """SHOW of objects that the engine manages; None for catalogs and other objects of Spark."""
    cursor.expect("SHOW")
    if cursor.key == "FUNCTIONS" or cursor.key_at(1) == "FUNCTIONS":
        return parse_function.show_functions(cursor)
    statement: Statement | None = None
    if cursor.accept_one(*_SCHEMAS):
        parent = _parent(cursor) if cursor.accept_one("IN", "FROM") else None
        statement = ShowSchemas(sql=cursor.text, parent=parent, like=_like(cursor))
    elif cursor.key == "CURRENT" and cursor.key_at(1) in _SCHEMA:
        cursor.i += 2
        statement = ShowCurrentSchema(sql=cursor.text)
    elif cursor.accept("CATALOGS"):
        statement = ShowCatalogs(sql=cursor.text, like=_like(cursor))
    elif cursor.accept("TABLES"):
        database = _in_database(cursor)
        statement = ShowTables(sql=cursor.text, database=database, like=_like(cursor))
    elif cursor.accept("TABLE", "EXTENDED"):
        database = _in_database(cursor)
        like = _like(cursor)
        if cursor.key == "PARTITION":
            partition = partition_spec(cursor)
            table = TableName(database, like or "")
            statement = ShowTablePartition(sql=cursor.text, table=table, partition=partition)
        else:
            statement = ShowTables(sql=cursor.text, database=database, like=like, extended=True)
    elif cursor.accept("VIEWS"):
        database = _in_database(cursor)
        statement = ShowViews(sql=cursor.text, database=database, like=_like(cursor))
    elif cursor.accept("PROCEDURES"):
        parts = cursor.dotted("a schema name") if cursor.accept_one("IN", "FROM") else ()
        parts = parts[1:] if parts and parts[0].lower() in OWN_CATALOGS else parts
        if len(parts) > 1:
            return None
        statement = ShowProcedures(sql=cursor.text, schema=parts[0] if parts else None)
    elif cursor.accept("CREATE", "TABLE"):
        table = cursor.table_name()
        if cursor.key == "AS":
            raise cursor.error("AS SERDE is for tables of Hive", kind=SqlError, hint="Leave it out.")
        statement = ShowCreateTable(sql=cursor.text, table=table)
    elif cursor.accept("TBLPROPERTIES"):
        statement = _show_properties(cursor)
    elif cursor.accept("COLUMNS"):
        statement = _show_columns(cursor)
    elif cursor.accept("TAGS"):
        cursor.accept_one("IN", "FROM")
        statement = ShowTags(sql=cursor.text, table=cursor.table_name())
    elif cursor.accept("PARTITIONS"):
        table = cursor.table_name()
        statement = ShowPartitions(sql=cursor.text, table=table, partition=partition_spec(cursor))
    if statement is not None:
        cursor.expect_end()
    return statement


def _parent(cursor: Cursor) -> str | None:
    """The schema behind SHOW SCHEMAS IN; None for our catalog, of whose schemas there is a list."""
    if cursor.token.is_name and cursor.key.lower() in OWN_CATALOGS and cursor.key_at(1) != ".":
        cursor.i += 1
        return None
    return cursor.database_name()


def _in_database(cursor: Cursor) -> str | None:
    return cursor.database_name() if cursor.accept_one("IN", "FROM") else None


def _like(cursor: Cursor) -> str | None:
    if cursor.accept("LIKE") or cursor.token.kind == STRING:
        return cursor.string("a pattern in quotes")
    return None


def _show_properties(cursor: Cursor) -> Statement:
    table = cursor.table_name()
    key: str | None = None
    if cursor.accept("("):
        key = property_key(cursor)
        cursor.expect(")")
    return ShowTblProperties(sql=cursor.text, table=table, key=key)


def _show_columns(cursor: Cursor) -> Statement:
    if not cursor.accept_one("IN", "FROM"):
        raise cursor.error("Expected FROM and a table")
    table = cursor.table_name()
    start = cursor.i
    database = _in_database(cursor)
    if database is not None and table.database is not None and table.database.lower() != database.lower():
        cursor.i = start
        raise cursor.error(f"{table} is not in schema '{database}'", kind=SqlError, hint="Name one schema.")
    if database is not None:
        table = TableName(database, table.name)
    return ShowColumns(sql=cursor.text, table=table)


def set_catalog(cursor: Cursor) -> Statement | None:
    """``CATALOG name`` after USE or SET. Our own catalog is Spark's first one, by whatever name."""
    cursor.expect("CATALOG")
    if cursor.token.kind != STRING and not cursor.token.is_name:
        return None
    name = cursor.string() if cursor.token.kind == STRING else cursor.name("a catalog name")
    if not cursor.at_end:
        return None
    return PassThrough(sql=f"SET CATALOG {'spark_catalog' if name.lower() in OWN_CATALOGS else quoted_name(name)}")


def describe(cursor: Cursor) -> Statement | None:
    """DESCRIBE of a table, a column or a schema, starting after the verb; None for what is Spark's."""
    if cursor.key == "PROCEDURE" and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
        procedure = _procedure(cursor)
        if procedure is None:
            return None
        cursor.expect_end()
        return DescribeProcedure(sql=cursor.text, procedure=procedure)
    if cursor.key == "FUNCTION" and cursor.tokens[cursor.i + 1].kind != END and cursor.key_at(1) != ".":
        cursor.i += 1
        return parse_function.describe_function(cursor)
    cursor.refuse_unfinished()
    if cursor.key in _SCHEMA and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
        extended = _extended(cursor)
        database = cursor.database_name()
        cursor.expect_end()
        return DescribeSchema(sql=cursor.text, database=database, extended=extended)
    if cursor.key == "TABLE" and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
    extended = _extended(cursor)
    if cursor.key == "TABLE" and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
    table = cursor.table_name()
    partition = partition_spec(cursor)
    column = ".".join(cursor.dotted()) if cursor.token.is_name and cursor.key != "AS" else None
    as_json = cursor.accept("AS", "JSON")
    cursor.expect_end()
    if "$" in table.name and not (column or partition or as_json):  # a system table: Spark computes its rows
        named = ".".join(quoted_name(part) for part in (table.database, table.name) if part is not None)
        query = f"SELECT * FROM {named}"
        return QueryInside(sql=cursor.text, kind="DESCRIBE QUERY", prefix="DESCRIBE QUERY ", query_sql=query)
    return Describe(
        sql=cursor.text, table=table, extended=extended, column=column, partition=partition, as_json=as_json
    )


def _extended(cursor: Cursor) -> bool:
    """Accepts EXTENDED or FORMATTED, unless the word is the name of the described object."""
    if cursor.key in ("EXTENDED", "FORMATTED") and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
        return True
    return False


def analyze(cursor: Cursor) -> Statement | None:
    """ANALYZE TABLE and ANALYZE TABLES."""
    if cursor.accept("ANALYZE", "TABLES"):
        database = _in_database(cursor)
        cursor.expect("COMPUTE", "STATISTICS")
        no_scan = cursor.accept("NOSCAN")
        cursor.expect_end()
        return AnalyzeTables(sql=cursor.text, database=database, no_scan=no_scan)
    if not cursor.accept("ANALYZE", "TABLE"):
        return None
    cursor.refuse_unfinished()
    table = cursor.table_name()
    if cursor.key == "PARTITION":
        raise cursor.error("Statistics are kept for whole tables", hint="Leave PARTITION out.", kind=SqlError)
    cursor.expect("COMPUTE", "STATISTICS")
    columns: tuple[str, ...] | None = None
    no_scan = cursor.accept("NOSCAN")
    if cursor.accept("FOR", "ALL", "COLUMNS"):
        columns = ()
    elif cursor.accept("FOR", "COLUMNS"):
        names = [cursor.name("a column name")]
        while cursor.accept(","):
            names.append(cursor.name("a column name"))
        columns = tuple(names)
    cursor.expect_end()
    return AnalyzeTable(sql=cursor.text, table=table, columns=columns, no_scan=no_scan)


def call(cursor: Cursor) -> Statement | None:
    """CALL sys.procedure(1, name => 'value'); None for the procedures of other catalogs."""
    cursor.expect("CALL")
    procedure = _procedure(cursor)
    if procedure is None:
        return None
    cursor.refuse_unfinished()
    positional: list[Constant | None] = []
    named: dict[str, Constant | None] = {}
    cursor.expect("(")
    while not cursor.accept(")"):
        if positional or named:
            cursor.expect(",")
        if cursor.token.is_name and cursor.key_at(1) in ("=>", ":="):
            key = cursor.name().lower()
            cursor.i += 1
            named[key] = _argument(cursor)
        elif named:
            raise cursor.error("A positional argument follows a named one")
        else:
            positional.append(_argument(cursor))
    cursor.expect_end()
    return Call(sql=cursor.text, procedure=procedure, positional=tuple(positional), named=named)


def _procedure(cursor: Cursor) -> str | None:
    """The name of a procedure, without ``sys.``; None for one of another catalog."""
    parts = [part.lower() for part in cursor.dotted("a procedure")]
    if parts[0] in OWN_CATALOGS and len(parts) > 1:
        parts = parts[1:]
    if parts[0] in PROCEDURE_SCHEMAS and len(parts) == 2:
        parts = parts[1:]
    return parts[0] if len(parts) == 1 else None


def _argument(cursor: Cursor) -> Constant | None:
    """A constant, or NULL."""
    if cursor.accept("NULL"):
        return None
    if cursor.token.kind == STRING:
        return cursor.string()
    found = constant_at(cursor.tokens, cursor.i)
    if found is None:
        raise cursor.error("The argument of a procedure must be a constant", kind=SqlError)
    value, cursor.i = found
    return value
