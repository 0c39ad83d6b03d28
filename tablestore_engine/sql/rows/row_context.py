"""What every statement on rows is given: the catalog, the session and what the caller asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import (
    ReadOnlyError,
)
from tablestore_engine.operation.job.write_intent import PLAIN, WriteIntent
from tablestore_engine.spark.verbs.insert_overwrite import (
    WriteOutcome,
)
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.rows.frames import Frames
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class RowContext:
    """What a statement on rows needs. `spark` starts the session when it is first called."""

    catalog: Catalog
    database: str
    spark: Callable[[], SparkSession]
    now_millis: Callable[[], int]
    session_options: Mapping[str, str]
    intent: WriteIntent = PLAIN

    def frames(self, *, lasting: bool = False) -> Frames:
        """A new binder, for one statement. `lasting`: Spark keeps the text and reads it again later."""
        return Frames(self.spark(), self.catalog, self.database, lasting=lasting)

    def identifier(self, name: TableName) -> tuple[str, str]:
        """Database and name."""
        return self.catalog.require_database(name.database or self.database), name.name

    def table(self, name: TableName) -> Table:
        """A table to write to. Raises ReadOnlyError for a view."""
        database, table = self.identifier(name)
        if self.catalog.object_kind(database, table) == "view":
            raise ReadOnlyError(
                f"'{database}.{table}' is a view, which cannot be written to.",
                hint="Write to the table it reads.",
            )
        return self.catalog.load_table(database, table)


def result_of(kind: str, outcome: WriteOutcome) -> StatementResult:
    """The result of a verb."""
    return StatementResult(kind, outcome.rows)
