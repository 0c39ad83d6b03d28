"""Operations of `dbt run-operation` on a table: the CALL of a procedure, and a few lines that report its result.

Invariant: functions here map values to texts. The macros in `operations.sql` find the table and run the statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.schema.types.sql_literals import literal, quoted_text

_MAX_LINES = 20


def call_sql(procedure: str, table: str, arguments: Mapping[str, Any]) -> str:
    """The CALL of a procedure on a table, `schema.name`. Arguments that are None are left out.

    Raises DbtRuntimeError for an argument that is not a plain value.
    """
    given = [f"table => {quoted_text(table)}"]
    for name, value in arguments.items():
        if value is None:
            continue
        try:
            # YAML reads an unquoted time as a time; procedures expect its text.
            plain = str(value) if isinstance(value, (date, datetime, float)) else value
            given.append(f"{name} => {quoted_text(plain) if isinstance(plain, str) else literal(plain)}")
        except TypeError:
            raise DbtRuntimeError(
                f"{name} of {procedure} is a text, a number, true or false, and not {value!r}."
            ) from None
    return f"call sys.{procedure}({', '.join(given)})"


def report(procedure: str, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """The lines that report a procedure's result on the console."""
    head = f"{procedure} {table}"
    if procedure == "compact":
        return [f"{head}: {'compacted' if rows and rows[0][0] else 'nothing to compact'}"]
    if procedure == "expire_snapshots":
        return [f"{head}: {_count(int(rows[0][0]), 'snapshot')} expired"]
    if list(columns) == ["previous_snapshot_id", "rolled_back_snapshot_id", "current_snapshot_id"]:
        before, to, now = (int(one) for one in rows[0])
        if before == now:
            return [f"{head}: it has the rows of snapshot {to} already"]
        return [f"{head}: snapshot {now} has the rows of snapshot {to} again"]
    if len(columns) == 1 and columns[0] != "result":
        shown = [f"  {row[0]}" for row in rows[:_MAX_LINES]]
        more = [f"  … and {len(rows) - _MAX_LINES} more"] if len(rows) > _MAX_LINES else []
        what = columns[0].replace("_", " ").removesuffix("s")
        return [f"{head}: {_count(len(rows), what)}", *shown, *more]
    if list(columns) == ["result"]:
        return [f"{head}: {'done' if rows and rows[0][0] else 'nothing to do'}"]
    return [
        f"{head}: " + ", ".join(f"{name} {value}" for name, value in zip(columns, row, strict=True)) for row in rows
    ]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
