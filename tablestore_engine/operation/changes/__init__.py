"""Whole changes of a table without Spark: Arrow writes, an empty replacement, partitions that go; and what follows.

`after_commit` is the one list of what follows every commit. Statements and DataFrames, which need Spark, run the same
list after theirs. Knows all rooms of `operation` but `ingest`.
"""
