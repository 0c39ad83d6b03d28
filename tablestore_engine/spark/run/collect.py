"""The rows of a DataFrame as Arrow."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from tablestore_engine.spark.run.errors import translated


def collect_arrow(frame: DataFrame) -> pa.Table:
    """All rows of a DataFrame as an Arrow table.

    Raises:
        SqlError, ExecutionError: Spark refused or failed.
    """
    with translated():
        return frame.toArrow()
