"""Procedures of CALL sys.… as values, and the kinds of arguments that they take.

Arguments are constants: texts, numbers, booleans, dates and times. Each function here converts one of them, or raises
an SqlError that names the argument and the accepted values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tablestore_engine.errors import SqlError
from tablestore_engine.options import parse_duration
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS, Cursor
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table

Arguments = Mapping[str, Any]
Rows = list[tuple[Any, ...]]


def named_table(arguments: Arguments, context: RowContext) -> list[Table]:
    """The table of the argument `table`. Raises SqlError, TableNotFound, ReadOnlyError for a view."""
    return [context.table(table_name_of(str(arguments["table"])))]


def table_name_of(given: str) -> TableName:
    """The table of an argument: `t`, `db.t` or `tablestore.db.t`, with backquotes or without."""
    if "`" not in given:  # as users write any name here, also one that SQL would want in backquotes
        database, _, name = given.rpartition(".")
        catalog, _, inner = database.partition(".")
        return TableName((inner if inner and catalog.lower() in OWN_CATALOGS else database) or None, name)
    cursor = Cursor(given)
    found = cursor.table_name()
    cursor.expect_end()
    return found


def _unchanged(rows: Rows) -> Rows:
    return rows


def _nothing(arguments: Arguments, context: RowContext) -> Rows:
    return []


@dataclass(frozen=True)
class Procedure:
    """One procedure. The docstring of `run` is its documentation.

    `parameters` in order, all but the first `required` optional; `columns` of the answer as name → Spark type. It runs
    on each of its `tables`, and then, once, what it does `besides`; `answer` makes its result of all their rows.
    """

    run: Callable[[Table, Arguments, RowContext], Rows]
    parameters: tuple[str, ...]
    required: int
    columns: Mapping[str, str]
    example: str
    tables: Callable[[Arguments, RowContext], Sequence[Table]] = named_table
    answer: Callable[[Rows], Rows] = _unchanged
    besides: Callable[[Arguments, RowContext], Rows] = _nothing

    @property
    def signature(self) -> list[str]:
        """Its parameters in order, those in brackets that may be left out."""
        return [one if at < self.required else f"[{one}]" for at, one in enumerate(self.parameters)]


def count(name: str, arguments: Arguments, default: int) -> int:
    """A number from 1 on."""
    value: Any = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SqlError(f"{name} is a number from 1 on, not {value!r}.")
    return int(value)


def flag(name: str, arguments: Arguments) -> bool:
    """True or false; false when it is not given."""
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise SqlError(f"{name} is true or false, not {value!r}.", hint=f"Write {name} => true.")
    return value


def text(name: str, arguments: Arguments) -> str | None:
    """A text, None when it is not given or blank."""
    value = arguments.get(name)
    return None if value is None or not str(value).strip() else str(value).strip()


def pattern(name: str, arguments: Arguments, default: str) -> re.Pattern[str]:
    """A regular expression for whole names."""
    value = text(name, arguments) or default
    try:
        return re.compile(value)
    except re.error as error:
        raise SqlError(
            f"{name} is not a regular expression: {value!r} ({error}).", hint="Write names as 'a|b', or as 'a.*'."
        ) from None


def duration(name: str, arguments: Arguments) -> int | None:
    """Milliseconds of a text such as `1 d`, None when it is not given."""
    value = text(name, arguments)
    if value is None:
        return None
    try:
        return parse_duration(value)
    except ValueError as error:
        raise SqlError(f"{name} cannot be {value!r}: {error}.") from None


def millis(name: str, arguments: Arguments) -> int | None:
    """Milliseconds since 1970 of a time, None when it is not given.

    A number is taken as such; a text without a zone is a time of this machine.
    """
    value = arguments.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    try:
        return int(datetime.fromisoformat(str(value)).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise SqlError(
            f"{name} is a time, not {value!r}.",
            hint=f"Write it as '{datetime.now():%Y-%m-%d %H:%M:%S}', or as milliseconds since 1970.",
        ) from None
