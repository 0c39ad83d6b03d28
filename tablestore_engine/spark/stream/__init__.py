"""Streams: a table as a streaming source of Spark, and the batches of a streaming query as writes.

The top room of `spark`. What a stream reads is decided by `operation.stream`.
"""
