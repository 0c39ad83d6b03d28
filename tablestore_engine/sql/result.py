"""The result of a statement: rows to fetch, or a summary of what it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class StatementResult:
    """The result of one statement.

    `kind` is its verb (`UPSERT`, `CREATE TABLE`, `SELECT`). Rows are either a lazy `dataframe` or, when the catalog
    answered without Spark, `rows` under `columns`. `rows_affected` counts rows that were written, changed
    or removed. `is_small`: the query reads so little that it is run without generated code, as `running` gives it.
    """

    kind: str
    rows_affected: int | None = None
    dataframe: DataFrame | None = None
    columns: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None  # Spark type texts of `columns`
    rows: Sequence[tuple[Any, ...]] | None = None
    is_small: bool = False

    @contextmanager
    def running(self) -> Iterator[DataFrame]:
        """The query as it is run, while it runs. Raises the engine's errors for Spark's."""
        from tablestore_engine.spark.errors.translate_errors import translated
        from tablestore_engine.spark.queries.small_plans import planned_small

        if self.dataframe is None:
            raise AssertionError(f"{self.kind} is no query")
        with translated():
            yield planned_small(self.dataframe, self.is_small)

    @property
    def message(self) -> str:
        """One readable line: `UPSERT 1,204 rows`."""
        if self.rows_affected is None:
            return self.kind
        return f"{self.kind} {self.rows_affected:,} row{'' if self.rows_affected == 1 else 's'}"
