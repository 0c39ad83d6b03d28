"""A statement's result as a DataFrame, for callers of `TableStore.sql`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablestore_engine.schema.types.sql_literals import quoted_name
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
    if result.rows is not None and result.columns is not None:
        types = result.types or ("string",) * len(result.columns)
        schema = ", ".join(f"{quoted_name(n)} {t}" for n, t in zip(result.columns, types, strict=True))
        return spark.createDataFrame([tuple(row) for row in result.rows], schema)
    if result.rows_affected is not None:
        return spark.createDataFrame([(result.rows_affected,)], "num_affected_rows bigint")
    return spark.createDataFrame([], "result string")


def run_query(result: StatementResult) -> None:
    """Run a query whose rows nobody fetches, for its effects and errors."""
    if result.dataframe is not None:
        with result.running() as frame:
            frame.write.format("noop").mode("overwrite").save()
