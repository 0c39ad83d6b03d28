"""Which statement failed, and on which table, in the errors of what is run on it.

Spark's reasons name a value, and never the table that is written; errors about a column name that only. Invariant: an
error says both once, however many of these contexts it passes.
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
    PrimaryKeyError,
    RowKindError,
    SchemaError,
    SqlError,
    TableStoreError,
    UnsupportedTypeError,
)
from tablestore_engine.spark.errors.translate_errors import translated

_OF_VALUES = (
    CastError, ColumnNotFound, ConstraintError, ExecutionError, NegativeCountError, PrimaryKeyError, RowKindError,
    SchemaError, UnsupportedTypeError,
)  # fmt: skip


@contextmanager
def failing(words: str, table: Callable[[], str]) -> Iterator[None]:
    """Spark's errors, and those about values, with the statement and the table in front: "UPDATE sales.orders failed:".

    `words` open the statement, as "INSERT INTO".
    """
    try:
        with translated():
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
        return error.message.startswith("[")  # Spark's own
    return isinstance(error, _OF_VALUES)


def _names(error: TableStoreError, table: str) -> bool:
    """Whether an error names the table; Spark's own words may name one of the same name, or show it in an excerpt."""
    if error.message.startswith("["):
        return False
    return re.search(rf"(?<![\w.]){re.escape(table)}(?![\w.]*\w)", error.message) is not None
