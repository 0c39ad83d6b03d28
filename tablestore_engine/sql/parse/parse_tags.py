"""CREATE, REPLACE, RENAME and DELETE TAG of ALTER TABLE."""

from __future__ import annotations

from tablestore_engine.sql.statements.statement import Existing, Statement, TableName
from tablestore_engine.sql.statements.tag import CreateTag, DeleteTag, RenameTag
from tablestore_engine.sql.tokens.cursor import Cursor
from tablestore_engine.sql.tokens.lexer import STRING

_UNITS = ("DAYS", "HOURS", "MINUTES", "DAY", "HOUR", "MINUTE")


def alter_tag(cursor: Cursor, table: TableName) -> Statement | None:
    """The tag statements of ALTER TABLE; None for other statements."""
    if cursor.accept("CREATE", "TAG"):
        return _create(cursor, table, cursor.accept_existing())
    if cursor.accept("CREATE", "OR", "REPLACE", "TAG"):
        return _create(cursor, table, Existing.REPLACED)
    if cursor.accept("REPLACE", "TAG"):
        return _create(cursor, table, Existing.REQUIRED)
    if cursor.accept("DELETE", "TAG") or cursor.accept("DROP", "TAG"):
        if_exists = cursor.accept_if_exists()
        return DeleteTag(sql=cursor.text, table=table, tag=_name(cursor), if_exists=if_exists)
    if cursor.accept("RENAME", "TAG"):
        tag = _name(cursor)
        cursor.expect("TO")
        return RenameTag(sql=cursor.text, table=table, tag=tag, new=_name(cursor))
    return None


def _create(cursor: Cursor, table: TableName, existing: Existing) -> Statement:
    """``name [AS OF VERSION 3] [RETAIN 7 DAYS]``."""
    tag = _name(cursor)
    snapshot_id = _number(cursor, "the id of a snapshot") if cursor.accept("AS", "OF", "VERSION") else None
    retained = None
    if cursor.accept("RETAIN"):
        number = _number(cursor, "a number")
        unit = cursor.accept_one(*_UNITS)
        if unit is None:
            raise cursor.error("Expected DAYS, HOURS or MINUTES")
        retained = f"{number} {unit.lower()}"
    return CreateTag(
        sql=cursor.text,
        table=table,
        tag=tag,
        snapshot_id=snapshot_id,
        retained=retained,
        existing=existing,
    )


def _name(cursor: Cursor) -> str:
    return cursor.string() if cursor.token.kind == STRING else cursor.name("the name of a tag")


def _number(cursor: Cursor, what: str) -> int:
    text = cursor.token.text
    if not text.isdigit():
        raise cursor.error(f"Expected {what}")
    cursor.i += 1
    return int(text)
