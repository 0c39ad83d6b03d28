"""INSERT, UPDATE, DELETE, MERGE, rewrites and ANALYZE on Spark, each as one commit.

DELETE, UPDATE and MERGE are `row_level` or `multiset_row_level`, by the kind of the table.
Knows `read`, `write` and `compact`, and what lies below them.
"""
