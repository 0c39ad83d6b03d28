"""A table as a streaming source of Spark.

The top room of `spark`. Knows the catalog, `scan`, `expressions`, `operation.write` and `operation.stream`, which
decides what a stream reads; the batches of a streaming query are written by `sql.dataframe_writes`.
"""
