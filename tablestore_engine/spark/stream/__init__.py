"""A table as a streaming source of Spark.

The top room of `spark`. `operation.stream` decides what a stream reads; the batches of
a streaming query are written by `sql.dataframe_writes`.
"""
