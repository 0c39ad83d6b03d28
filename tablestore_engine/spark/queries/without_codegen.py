"""Running small statements without generated code.

Spark generates Java for each stage of a query, and Java compiles it: in a process that is seconds old this takes longer
than some hundred rows do without. The setting is one of a session, so the query, which is analysed already, is planned
and run in a copy of its session, and the session itself is never changed. A setting that the user made is left alone. A
session of Spark Connect is left alone, too: each question costs a round trip, and its server is rarely young.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.spark.session.session_settings import is_remote

SMALL_BYTES = 1 << 20
"""Of files that a statement reads: with more, generated code pays."""
_KEY = "spark.sql.codegen.wholeStage"
_ATTRIBUTE = "_tablestore_uncompiled"


def uncompiled(frame: DataFrame, small: bool) -> DataFrame:
    """The frame as it is run without generated code, if it is small and its session does not say otherwise."""
    spark: Any = frame.sparkSession
    if not small or is_remote(spark) or spark.conf.get(_KEY, None) is not None:
        return frame
    datasets: Any = spark._jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(datasets.ofRows(_copy_of(spark), frame._jdf.queryExecution().analyzed()), spark)


def interrupt_all(spark: SparkSession) -> None:
    """Cancel what a session runs, in its copy, too. Called from another thread."""
    kept = vars(spark).get(_ATTRIBUTE)
    if kept is not None:
        kept[1].interruptAll()
    spark.interruptAll()


def _copy_of(spark: Any) -> Any:
    """A copy of the session without generated code. It is kept, because Spark's lists of queries hold the session of
    each, and is made anew where settings or the current schema are others than they were."""
    session = spark._jsparkSession
    catalog = session.catalog()
    now = (session.sessionState().conf().getAllConfs(), catalog.currentCatalog(), catalog.currentDatabase())
    kept = vars(spark).get(_ATTRIBUTE)
    if kept is not None and kept[0] == now:
        return kept[1]
    copy = session.cloneSession()
    copy.conf().set(_KEY, "false")
    vars(spark)[_ATTRIBUTE] = (now, copy)
    return copy
