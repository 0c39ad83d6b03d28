"""Spark sessions: configuration, the Java behind them, the start-up archive, and the cache of sessions.

Knows nothing of tables. The only room that reaches below PySpark's public API, because that API can neither take a JVM
that was started from a class archive (ADR 0005) nor say whose session runs. It uses the environment that
`pyspark.java_gateway` reads, `SparkContext._gateway`, `_active_spark_context`, `_jvm` and `_jsc`, `SparkSession._sc`,
`RuntimeConfig._jconf`, `pyspark.daemon.manager`, py4j's view of Java's packages, and, over Spark Connect,
`client._builder`. All other rooms use the public API, so they also work over Spark Connect. There are two exceptions:
`write.start_workers` reads `_sc` to see whether the session runs in this process, and leaves a mark there when it has
started a worker; `scan.deletion_vectors` names an internal column of Spark's Parquet reader.
"""
