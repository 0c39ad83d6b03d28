"""Commands on a table without Spark, each from the request to what follows its commit.

Arrow writes, ALTER TABLE, an empty replacement, the removal of partitions. `after_commit` is the one list of what
follows every commit. Statements and DataFrames, which need Spark, run the same list after theirs. Knows all rooms of
`operation` but `kafka_source`.
"""
