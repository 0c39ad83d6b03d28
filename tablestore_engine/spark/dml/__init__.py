"""The verbs of statements on rows: INSERT, UPDATE, DELETE, MERGE, rewrites and ANALYZE, each as one commit.

DELETE, UPDATE and MERGE are `row_level` or `multiset_row_level`, by the kind of the table.
Knows `read`, `write` and `compact`.
"""
