"""Which statement failed, and on which table, in Spark's errors: their reasons name a value, and never the table that
is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tablestore_engine.operation.table_commands.failed_changes import naming
from tablestore_engine.spark.errors.translate_errors import translated


@contextmanager
def failing(words: str, table: Callable[[], str]) -> Iterator[None]:
    """Errors of Spark and of this engine that name their statement and their table (`naming`)."""
    with naming(words, table), translated():
        yield
