"""Variables of a session (`DECLARE v`), and whether it may have any, or functions of its own.

Spark has no list of variables, so that only plans show them, which cost as much as the statement that asks.
"""

from __future__ import annotations

import re

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.errors.translate_errors import translated

_IN_PLAN = re.compile(r"\bvariablereference\((?:system\.session\.)?([^=]+)=", re.IGNORECASE)
_MAKES_THEM = re.compile(r"\b(?:DECLARE|FUNCTION)\b", re.IGNORECASE)
_MADE = "_tablestore_variables_or_functions"
_MOST_SHOWN = "spark.sql.debug.maxToStringFields"


def note_made(spark: SparkSession, sql: str) -> None:
    """Note that a statement of Spark's may have made a variable or a function of the session."""
    if _MAKES_THEM.search(sql):
        vars(spark)[_MADE] = True


def may_have_made(spark: SparkSession) -> bool:
    """Whether a statement may have made a variable or a function of the session."""
    return _MADE in vars(spark)


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
