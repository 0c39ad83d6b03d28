"""Settings of a session whose statements read and write a few rows each, thousands of them in one process.

Tests that start sessions of their own have Spark's: other readers, the cluster, writers that are killed, the terminal.
"""

from __future__ import annotations

FEW_ROWS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1500m",
    # What sorts, aggregates or is broadcast takes a page, of 32 MB for this heap if Spark chose: full collections took
    # an eighth of the time.
    "spark.buffer.pageSize": "1m",
    # Queries of a few rows run for less time than Spark compiles them, and than Java's second compiler takes.
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
