"""Settings of a session whose statements read and write a few rows each, thousands of them in one process.

Tests that start sessions of their own have Spark's: other readers, the cluster, writers that are killed, the terminal.
"""

from __future__ import annotations

FEW_ROWS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "2g",
    # What sorts, aggregates or is broadcast takes a page, of 32 MB for this heap if Spark chose: full collections took
    # an eighth of the time.
    "spark.buffer.pageSize": "256k",
    # Each stage of a query is broadcast to its tasks in a block of this size: a third of all memory that Java cleared.
    "spark.broadcast.blockSize": "64k",
    # Tests of one kind have queries of one shape, of which Spark keeps the code of the last 100.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # Queries of a few rows run for less time than Spark compiles them, and than Java's second compiler takes. Without
    # it Java has room for 48 MB of code only, which Spark fills: a tenth of the time went into making room again.
    "spark.sql.codegen.wholeStage": "false",
    # Spark describes the plan of each query for its UI: in the longest of its forms, unless asked.
    "spark.sql.ui.explainMode": "simple",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
}


def small_session():
    """The session of a process with these settings; the first call starts it."""
    from tablestore_engine.spark.session.session import SessionConfig, start_session

    return start_session(SessionConfig(master="local[2]", spark_config=FEW_ROWS))
