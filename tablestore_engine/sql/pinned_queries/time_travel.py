"""VERSION AS OF and TIMESTAMP AS OF: the snapshot that a time-travel clause picks; and the bounds of changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.history.change_range import Bound
from tablestore_engine.schema.types.sql_literals import unquoted_name
from tablestore_engine.sql.query_structure.query_structure import TimeTravel
from tablestore_engine.sql.tokens.cursor import literal_text
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_NO_TIME = "Cannot resolve"
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def value_query(sql: str) -> str:
    """The query for the milliseconds since 1970 of an expression, null when it is not a time; for its type; and for its
    text."""
    return f"SELECT unix_millis(TRY_CAST({sql} AS TIMESTAMP)), typeof({sql}), CAST({sql} AS STRING)"


def snapshot_of(table: Table, travel: TimeTravel, run: Callable[[str], DataFrame]) -> Snapshot:
    """The snapshot or tag that a version names, or the newest snapshot that is not younger than a time.

    `run` evaluates the expression of the time, as `value_query`.

    Raises:
        SqlError: the expression is not a time.
        SnapshotNotFound, TagNotFound
    """
    if travel.version_sql is not None:
        text = literal_text(travel.version_sql)
        return table.version(unquoted_name(travel.version_sql) if text is None else text.strip())
    assert travel.timestamp_sql is not None
    millis, _, _ = _value(travel.timestamp_sql, run)
    if millis is None:
        raise SqlError(
            f"TIMESTAMP AS OF {travel.timestamp_sql}, of table {table.name}, is not a time.",
            hint="Write it like TIMESTAMP AS OF '2024-01-31 08:00:00'.",
        )
    return table.snapshot_at(millis)


def bound_of(table: Table, sql: str, run: Callable[[str], DataFrame]) -> Bound:
    """A bound of changes: the id of a snapshot, the name of a tag, or a time, in this order.

    Raises:
        SqlError: it is none of them.
    """
    text = literal_text(sql)
    if sql.strip().isdigit() or (text is not None and (text.strip().isdigit() or text in table.tags.names())):
        return sql.strip() if text is None else text
    millis, kind, value = _value(sql, run)
    if kind.partition("(")[0] in _NUMBERS:
        if value.isdigit():
            return value
        raise SqlError(
            f"{sql} is no snapshot of table {table.name}.",
            hint="The id of a snapshot is a whole number; 0 is the empty table before the first one.",
        )
    if millis is None:
        raise SqlError(
            f"{sql} is neither a snapshot nor a tag nor a time of table {table.name}.",
            hint="Write the id of a snapshot, the name of a tag, or a time like '2024-01-31 08:00:00'.",
        )
    return datetime.fromtimestamp(millis / 1000, timezone.utc)


def _value(sql: str, run: Callable[[str], DataFrame]) -> tuple[int | None, str, str]:
    """The milliseconds of an expression, its type and its text; of a null, or no row, the text is empty."""
    try:
        row = run(sql).first()
    except SqlError as error:
        if _NO_TIME not in str(error) or "TRY_CAST(" not in str(error):
            raise
        row = None  # its type is none of a time
    return (None, "void", "") if row is None else (row[0], row[1], row[2] or "")
