"""VERSION AS OF and TIMESTAMP AS OF: the snapshot that a time-travel clause picks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.sql.query.structure import TimeTravel
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def millis_query(time_sql: str) -> str:
    """The query for the milliseconds since 1970 of an expression; null when it is not a time."""
    return f"SELECT unix_millis(TRY_CAST({time_sql} AS TIMESTAMP)) AS t"


def snapshot_of(table: Table, travel: TimeTravel, run: Callable[[str], DataFrame]) -> Snapshot:
    """The snapshot or tag that a version names, or the newest snapshot that is not younger than a time.

    `run` evaluates the expression of the time: one row with its milliseconds.

    Raises:
        SqlError: the expression is not a time.
        SnapshotNotFound, TagNotFound
    """
    if travel.version_sql is not None:
        return table.version(travel.version_sql.strip().strip("'\""))
    assert travel.timestamp_sql is not None
    row = run(travel.timestamp_sql).first()
    if row is None or row[0] is None:
        raise SqlError(
            f"TIMESTAMP AS OF {travel.timestamp_sql} is not a time.",
            hint="Write it like TIMESTAMP AS OF '2024-01-31 08:00:00'.",
        )
    return table.snapshot_at(int(row[0]))
