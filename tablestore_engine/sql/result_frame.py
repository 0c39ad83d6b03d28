"""A statement's result as a DataFrame, for callers of `TableStore.sql`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.errors.guarded_frames import guarded
from tablestore_engine.sql.result import StatementResult

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def result_frame(spark: SparkSession, result: StatementResult) -> DataFrame:
    """Rows of a query or of SHOW; `num_affected_rows` for a statement that changed rows; otherwise no columns.

    Methods of the frame raise this engine's errors.
    """
    if result.dataframe is not None:
        return guarded(result.dataframe)
    if result.rows_affected is not None:
        return _one_row(spark, ("num_affected_rows",), ("bigint",), (result.rows_affected,))
    if result.rows is None or result.columns is None:
        return spark.sql("SELECT '' AS result WHERE false")
    types = result.types or ("string",) * len(result.columns)
    if len(result.rows) == 1 and all(isinstance(one, (int, str)) for one in result.rows[0]):
        return _one_row(spark, result.columns, types, result.rows[0])
    schema = ", ".join(f"{quoted_name(n)} {t}" for n, t in zip(result.columns, types, strict=True))
    return spark.createDataFrame([tuple(row) for row in result.rows], schema)


def _one_row(spark: SparkSession, names: Sequence[str], types: Sequence[str], row: Sequence[Any]) -> DataFrame:
    """A row of constants. Spark takes rows of Python objects in twenty calls, and this text in one."""
    cells = [f"CAST({literal(v)} AS {t}) AS {quoted_name(n)}" for n, t, v in zip(names, types, row, strict=True)]
    return spark.sql(f"SELECT {', '.join(cells)}")


def run_query(result: StatementResult) -> None:
    """Run a query whose rows nobody fetches, for its effects and errors."""
    if result.dataframe is not None:
        with result.running() as frame:
            frame.write.format("noop").mode("overwrite").save()
