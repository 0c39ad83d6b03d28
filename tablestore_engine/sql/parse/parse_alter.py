"""ALTER TABLE, ALTER VIEW, ALTER SCHEMA and COMMENT ON."""

from __future__ import annotations

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.parse.parse_columns import (
    alter_columns,
    property_action,
    property_keys,
    property_statement,
)
from tablestore_engine.sql.parse.parse_create import refuse_kept_up, view_mode
from tablestore_engine.sql.parse.parse_insert import partition_spec
from tablestore_engine.sql.parse.parse_table import check_condition
from tablestore_engine.sql.parse.parse_tags import alter_tag
from tablestore_engine.sql.statements.layout import AddPrimaryKey, ClusterTable, Compact
from tablestore_engine.sql.statements.partition import DropPartitions
from tablestore_engine.sql.statements.schema import AlterSchema
from tablestore_engine.sql.statements.statement import Existing, PartitionSpec, Statement, TableName
from tablestore_engine.sql.statements.table import (
    AddCheck,
    AlterUnsupported,
    CommentOn,
    DropConstraint,
    RenameTable,
)
from tablestore_engine.sql.statements.view import CreateView, SetViewMode
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS, Cursor, properties


def alter(cursor: Cursor) -> Statement | None:
    """ALTER TABLE, VIEW and SCHEMA; None for other kinds of objects."""
    cursor.expect("ALTER")
    refuse_kept_up(cursor)
    if cursor.accept_one("SCHEMA", "DATABASE", "NAMESPACE"):
        cursor.refuse_unfinished()
        return _schema(cursor)
    kind = cursor.accept_one("TABLE", "VIEW")
    if kind is None:
        return None
    cursor.refuse_unfinished()
    table = cursor.table_name()
    statement = _view(cursor, table) if kind == "VIEW" else _table(cursor, table)
    cursor.expect_end()
    return statement


def _schema(cursor: Cursor) -> Statement:
    """``db SET DBPROPERTIES (…)``, or UNSET."""
    database = cursor.database_name()
    if cursor.accept("UNSET", "DBPROPERTIES") or cursor.accept("UNSET", "PROPERTIES"):
        cursor.accept_if_exists()
        removed = property_keys(cursor)
        cursor.expect_end()
        return AlterSchema(sql=cursor.text, database=database, properties={}, removed=removed)
    if not (cursor.accept("SET", "DBPROPERTIES") or cursor.accept("SET", "PROPERTIES")):
        raise cursor.error(
            f"Schema {database} cannot be altered in this way",
            kind=SqlError,
            hint="Use SET DBPROPERTIES (…), or COMMENT ON SCHEMA.",
        )
    found = properties(cursor)
    cursor.expect_end()
    return AlterSchema(sql=cursor.text, database=database, properties=found)


def comment_on(cursor: Cursor) -> Statement | None:
    """``COMMENT ON TABLE t IS '…'``; also for schemas, views and columns."""
    cursor.expect("COMMENT", "ON")
    kind = cursor.accept_one("TABLE", "VIEW", "COLUMN", "SCHEMA", "DATABASE", "NAMESPACE")
    if kind is None:
        return None
    table: TableName | None = None
    column: str | None = None
    database: str | None = None
    named: tuple[str, ...] = ()
    if kind in ("TABLE", "VIEW"):
        table = cursor.table_name()
    elif kind == "COLUMN":
        parts = cursor.dotted("table.column")
        if len(parts) < 2:
            raise cursor.error("Expected table.column", kind=SqlError)
        named = parts[1:] if len(parts) > 3 and parts[0].lower() in OWN_CATALOGS else parts
        table = TableName(named[0] if len(named) > 2 else None, named[1] if len(named) > 2 else named[0])
        column = ".".join(named[2:] if len(named) > 2 else named[1:])
    else:
        kind, database = "SCHEMA", cursor.database_name()
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else cursor.string()
    cursor.expect_end()
    return CommentOn(
        sql=cursor.text,
        kind=kind,
        table=table,
        column=column,
        database=database,
        comment=comment,
        named=named,
    )


def _view(cursor: Cursor, view: TableName) -> Statement:
    if cursor.accept("WITH", "SCHEMA"):
        return SetViewMode(sql=cursor.text, view=view, mode=view_mode(cursor))
    if cursor.accept("AS") or cursor.sees_query():
        query = cursor.rest()
        return CreateView(sql=cursor.text, view=view, query_sql=query, options={}, existing=Existing.REQUIRED)
    if cursor.accept("RENAME", "TO"):
        return _renamed(cursor, view, is_view=True)
    about_properties = None if cursor.sees("SET", "COMMENT") else property_action(cursor)
    found = about_properties and property_statement(cursor, view, about_properties, is_view=True)
    return found or _unsupported(cursor, view)


def _table(cursor: Cursor, table: TableName) -> Statement:
    if cursor.accept("RENAME", "TO"):
        return _renamed(cursor, table, is_view=False)
    found = alter_tag(cursor, table)
    if found is not None:
        return found
    start = cursor.i
    partition = partition_spec(cursor)
    if cursor.accept("COMPACT"):
        partition = partition or partition_spec(cursor)
        return Compact(sql=cursor.text, table=table, partition=partition)
    if cursor.accept("CLUSTERED", "INTO"):
        return _cluster(cursor, table, partition)
    if not partition:
        found = alter_columns(cursor, table)
        if found is not None:
            return found
        if cursor.sees("DROP", "PARTITION") or cursor.sees("DROP", "IF", "EXISTS", "PARTITION"):
            return _drop_partitions(cursor, table)
        found = _constraint(cursor, table)
        if found is not None:
            return found
    cursor.i = start
    return _unsupported(cursor, table)


def _renamed(cursor: Cursor, table: TableName, *, is_view: bool) -> Statement:
    return RenameTable(sql=cursor.text, table=table, new=cursor.table_name("the new name"), is_view=is_view)


def _cluster(cursor: Cursor, table: TableName, partition: PartitionSpec) -> Statement:
    text = cursor.token.text
    if not text.isdigit():
        raise cursor.error("Expected a number of buckets", hint="Write CLUSTERED INTO 8 BUCKETS.")
    cursor.i += 1
    if not cursor.accept_one("BUCKETS", "BUCKET"):
        raise cursor.error("Expected BUCKETS")
    return ClusterTable(sql=cursor.text, table=table, partition=partition, buckets=int(text))


def _constraint(cursor: Cursor, table: TableName) -> Statement | None:
    """``ADD [CONSTRAINT name] PRIMARY KEY (a, b) [NOT ENFORCED]``, ``ADD [CONSTRAINT name] CHECK (…)`` and
    ``DROP CONSTRAINT [IF EXISTS] name``; None, without moving, for others."""
    start = cursor.i
    if cursor.accept("DROP", "CONSTRAINT"):
        if_exists = cursor.accept_if_exists()
        name = cursor.name("the name of the constraint")
        cursor.accept_one("RESTRICT", "CASCADE")
        return DropConstraint(sql=cursor.text, table=table, name=name, if_exists=if_exists)
    if cursor.accept("ADD"):
        name = ""
        if cursor.accept("CONSTRAINT") and cursor.key_at(1) in ("PRIMARY", "CHECK", "UNIQUE", "FOREIGN"):
            name = cursor.name("the name of the constraint")
        if cursor.accept("PRIMARY", "KEY"):
            columns = cursor.names_in_parentheses()
            cursor.accept("NOT", "ENFORCED")
            return AddPrimaryKey(sql=cursor.text, table=table, columns=columns)
        if cursor.sees("CHECK", "("):
            condition = check_condition(cursor)
            return AddCheck(sql=cursor.text, table=table, name=name, condition_sql=condition)
    cursor.i = start
    return None


def _drop_partitions(cursor: Cursor, table: TableName) -> Statement:
    """``DROP [IF EXISTS] PARTITION (…), PARTITION (…) [PURGE]``."""
    cursor.expect("DROP")
    if_exists = cursor.accept_if_exists()
    partitions: list[PartitionSpec] = []
    while not partitions or cursor.accept(","):
        spec = partition_spec(cursor)
        if not spec:
            raise cursor.error("Expected PARTITION (…)")
        partitions.append(spec)
    cursor.accept("PURGE")
    return DropPartitions(sql=cursor.text, table=table, partitions=tuple(partitions), if_exists=if_exists)


def _unsupported(cursor: Cursor, table: TableName) -> Statement:
    if cursor.at_end:
        raise cursor.error(f"Expected what to change on {table}")
    what = " ".join(token.text for token in cursor.tokens[cursor.i : cursor.i + 2]).strip()
    cursor.i = len(cursor.tokens) - 1
    return AlterUnsupported(sql=cursor.text, table=table, what=what.upper())
