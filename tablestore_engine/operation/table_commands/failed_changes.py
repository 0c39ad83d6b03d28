"""Which change failed, and of which table, in the errors about what it asks for.

An error about a column, an option or a value names that only. Invariant: an error says the change and its table once,
however many of these contexts it passes, and one that names the table stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tablestore_engine.errors import (
    CastError,
    ColumnNotFound,
    ConstraintError,
    ExecutionError,
    NegativeCountError,
    OptionError,
    PrimaryKeyError,
    RowKindError,
    SchemaError,
    SqlError,
    TableStoreError,
    UnsupportedTypeError,
    UserError,
)

_NAMELESS = (
    CastError, ColumnNotFound, ConstraintError, ExecutionError, NegativeCountError, OptionError, PrimaryKeyError,
    RowKindError, SchemaError, UnsupportedTypeError,
)  # fmt: skip


@contextmanager
def naming(words: str, table: Callable[[], str]) -> Iterator[None]:
    """Errors about what a change asks for, with the change and the table in front: "UPDATE sales.orders failed:".

    `words` open the statement, as "INSERT INTO".
    """
    try:
        yield
    except TableStoreError as error:
        if _is_nameless(error):
            name = table()
            if not _names(error, name):
                error.message = f"{words} {name} failed: {error.message}"
                error.args = (error.message,)
        raise


def _is_nameless(error: TableStoreError) -> bool:
    """Whether an error may be one that names no table."""
    if isinstance(error, SqlError):
        return type(error) is SqlError or error.message.startswith("[")  # Spark's own
    return type(error) is UserError or isinstance(error, _NAMELESS)


def _names(error: TableStoreError, table: str) -> bool:
    """Whether an error names the table; Spark's own words may name one of the same name, or show it in an excerpt."""
    if error.message.startswith("["):
        return False
    return re.search(rf"(?<![\w.]){re.escape(table)}(?![\w.]*\w)", error.message) is not None
