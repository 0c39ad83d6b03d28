"""Variables of a session (`DECLARE v`)."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tablestore_engine.schema.types.sql_literals import quoted_name


def is_variable(spark: SparkSession, name: str) -> bool:
    """Whether Spark knows a bare name where there is no column: that of a variable, or of a constant function."""
    try:
        return bool(spark.sql(f"SELECT {quoted_name(name)}").columns)
    except AnalysisException:
        return False
