"""Running small statements by a plan that takes little to make.

Spark plans for much data: it generates Java for each stage of a query, which Java compiles; it spreads rows over
partitions, runs each stage as a job and plans the rest anew after it. In a process that is seconds old this takes
longer than some hundred rows do. A small statement is interpreted instead, by one job in which rows that are of one
partition stay there.

The settings are those of a session, so the query, which is analysed already, is planned and run in a copy of its
session, and the session itself is never changed. Where the user set one of them, it is left alone, but for the number
of partitions, which every session of the engine has set. A session of Spark Connect is left alone, too: each question
costs a round trip, and its server is rarely young.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.spark.session.session_settings import is_remote

SMALL_BYTES = 1 << 20
"""That a statement reads (`ScanPlan.input_bytes`): with more, generated code pays."""
_KEY = "spark.sql.codegen.wholeStage"
SETTINGS = {
    _KEY: "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""For a small statement, unless the user set them."""
_PARTITIONS = "spark.sql.shuffle.partitions"
_ATTRIBUTE = "_tablestore_small_plans"


def planned_small(frame: DataFrame, small: bool) -> DataFrame:
    """The frame as it is run if it is small, and its session does not ask for generated code."""
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
    """A copy of the session with the settings for small statements. It is kept, because Spark's lists of queries hold
    the session of each, and is made anew where settings or the current schema are others than they were."""
    session = spark._jsparkSession
    catalog = session.catalog()
    now = (session.sessionState().conf().getAllConfs(), catalog.currentCatalog(), catalog.currentDatabase())
    kept = vars(spark).get(_ATTRIBUTE)
    if kept is not None and kept[0] == now:
        return kept[1]
    copy = session.cloneSession()
    unset = (key for key in SETTINGS if spark.conf.get(key, None) is None)
    for key, value in {_PARTITIONS: "1", **{key: SETTINGS[key] for key in unset}}.items():
        copy.conf().set(key, value)
    vars(spark)[_ATTRIBUTE] = (now, copy)
    return copy
