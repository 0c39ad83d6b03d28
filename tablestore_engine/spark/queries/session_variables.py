"""Variables of a session (`DECLARE v`). Spark has no list of them, so that only plans show them."""

from __future__ import annotations

import re

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.errors.translate_errors import translated

_IN_PLAN = re.compile(r"\bvariablereference\((?:system\.session\.)?([^=]+)=", re.IGNORECASE)
_MOST_SHOWN = "spark.sql.debug.maxToStringFields"


def variables_of(spark: SparkSession, query: str) -> list[str]:
    """The variables that a query reads, as its plan shows them. Nothing is read: the plan is one of no rows."""
    before = spark.conf.get(_MOST_SHOWN, None)
    spark.conf.set(_MOST_SHOWN, "1000000")
    try:
        with translated():
            plan = spark.sql(f"EXPLAIN EXTENDED SELECT * FROM (\n{query}\n) LIMIT 0").collect()[0][0]
    finally:
        if before is None:
            spark.conf.unset(_MOST_SHOWN)
        else:
            spark.conf.set(_MOST_SHOWN, before)
    return sorted({name.strip("`") for name in _IN_PLAN.findall(plan)})


def is_variable(spark: SparkSession, name: str) -> bool:
    """Whether Spark knows a bare name where there is no column: that of a variable, or of a constant function."""
    try:
        return bool(spark.sql(f"SELECT {quoted_name(name)}").columns)
    except AnalysisException:
        return False
