"""A table as a streaming source of Spark.

The top room of `spark`. What a stream reads is decided by `operation.stream`; the batches of
a streaming query are written by `sql.writes`.
"""
