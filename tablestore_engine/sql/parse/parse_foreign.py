"""Statements of other table formats, which packages and hooks send, with a hint what to do on a managed table; and
CREATE TABLE with LIKE among the columns.

Only the table name is parsed. If the table is not managed, the statement is passed to Spark, whose extensions may
support it.
"""

from __future__ import annotations

from tablestore_engine.errors import SqlError, TableStoreError
from tablestore_engine.sql.statements.statement import Statement, TableName
from tablestore_engine.sql.statements.table import ForeignStatement
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.types.types import parse_sql_type


def optimize(cursor: Cursor) -> Statement | None:
    """``OPTIMIZE t [WHERE …] [ZORDER BY (a, b)]``."""
    cursor.expect("OPTIMIZE")
    table = _table(cursor)
    if table is None:
        return None
    columns = ",".join(_z_order(cursor))
    hint = f"Leave it out, because writes compact by themselves, or use ALTER TABLE {table} COMPACT"
    if columns:
        z_order = f"CALL sys.compact(table => '{table}', order_strategy => 'zorder', order_by => '{columns}')"
        hint += f"; {z_order} sorts a table without a key"
    return _foreign(cursor, "OPTIMIZE", table, f"{hint}.")


def vacuum(cursor: Cursor) -> Statement | None:
    """``VACUUM t [RETAIN …]``."""
    cursor.expect("VACUUM")
    table = _table(cursor)
    hint = (
        f"Leave it out, because writes expire old snapshots, or use CALL "
        f"sys.expire_snapshots(table => '{table}'); "
        f"CALL sys.remove_orphan_files(table => '{table}') removes leftovers of failed writes."
    )
    return None if table is None else _foreign(cursor, "VACUUM", table, hint)


def restore(cursor: Cursor) -> Statement | None:
    """``RESTORE [TABLE] t TO …``."""
    cursor.expect("RESTORE")
    table = _table(cursor)
    hint = f"Use CALL sys.rollback(table => '{table}', version => '…') or sys.rollback_to_timestamp."
    return None if table is None else _foreign(cursor, "RESTORE", table, hint)


def repair(cursor: Cursor) -> Statement | None:
    """``MSCK REPAIR TABLE t``, ``FSCK REPAIR TABLE t`` and ``REPAIR TABLE t``."""
    cursor.accept_one("MSCK", "FSCK")
    if not cursor.accept("REPAIR"):
        return None
    table = _table(cursor)
    hint = "Leave it out: the metadata of a managed table lists its partitions."
    return None if table is None else _foreign(cursor, "REPAIR TABLE", table, hint)


def grant(cursor: Cursor) -> Statement | None:
    """``GRANT … ON [TABLE] t TO …`` and ``REVOKE … ON [TABLE] t FROM …``."""
    verb = cursor.key
    while not cursor.at_end and cursor.key != "ON":
        cursor.i += 1
    if not cursor.accept("ON"):
        return None
    names_kind = not cursor.at_end and cursor.tokens[cursor.i + 1].is_name and cursor.key_at(1) not in ("TO", "FROM")
    if names_kind and cursor.key not in ("TABLE", "VIEW"):
        return None  # a schema, a catalog, …
    table = _table(cursor)
    hint = "Tables are files in the warehouse folder: use the permissions of the file system."
    return None if table is None else _foreign(cursor, verb, table, hint)


def load(cursor: Cursor) -> Statement | None:
    """``LOAD DATA [LOCAL] INPATH 'path' [OVERWRITE] INTO TABLE t``."""
    while not cursor.at_end and not cursor.accept("INTO", "TABLE"):
        cursor.i += 1
    table = None if cursor.at_end else _table(cursor)
    hint = f"Use INSERT INTO {table} SELECT * FROM parquet.`path`, or the name of another format before the path."
    return None if table is None else _foreign(cursor, "LOAD DATA", table, hint)


def index(cursor: Cursor, verb: str) -> Statement | None:
    """``CREATE INDEX i ON [TABLE] t (a)`` and ``DROP INDEX i ON [TABLE] t``."""
    while not cursor.at_end and not cursor.accept("ON"):
        cursor.i += 1
    table = None if cursor.at_end else _table(cursor)
    hint = "Leave it out: rows are found by the primary key, by partitions and by the statistics of files."
    return None if table is None else _foreign(cursor, verb, table, hint)


def _foreign(cursor: Cursor, verb: str, table: TableName, hint: str) -> Statement:
    return ForeignStatement(sql=cursor.text, verb=verb, table=table, hint=hint)


def _table(cursor: Cursor) -> TableName | None:
    """The table name that comes next; None when it cannot be a managed table."""
    if cursor.key in ("TABLE", "VIEW") and cursor.tokens[cursor.i + 1].is_name:
        cursor.i += 1
    try:
        return cursor.table_name()
    except SqlError:
        return None


def _z_order(cursor: Cursor) -> list[str]:
    """The columns of ``ZORDER BY``, with or without parentheses."""
    while not cursor.at_end and not cursor.accept("ZORDER", "BY"):
        cursor.i += 1
    return [token.name for token in cursor.tokens[cursor.i :] if token.is_name]


def refuse_like(cursor: Cursor, table: TableName) -> None:
    """Raise a SqlError for LIKE and a table among the columns, as other warehouses write it. A column may be called
    so, too: then a type follows."""
    tokens, end = cursor.tokens, cursor.i + 2
    if cursor.key != "LIKE" or not tokens[end - 1].is_name:
        return
    while tokens[end].key == "." and tokens[end + 1].is_name:
        end += 2
    source = cursor.slice(cursor.i + 1, end)
    if tokens[end].key in ("INCLUDING", "EXCLUDING") or (tokens[end].key in (")", ",") and not _is_type(source)):
        raise cursor.error(
            "LIKE is no column",
            kind=SqlError,
            hint=f"CREATE TABLE {table} LIKE {source} copies a table, without its rows.",
        )


def _is_type(text: str) -> bool:
    try:
        parse_sql_type(text)
    except TableStoreError:
        return False
    return True
