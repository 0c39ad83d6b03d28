"""Makes the format `tablestore` known to Spark, which looks for data sources in packages called `pyspark_…`."""

from tablestore_engine.spark.stream.stream_source import TableStream as DefaultSource

__all__ = ["DefaultSource"]
