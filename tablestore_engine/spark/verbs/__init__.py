"""What statements do to rows: INSERT, UPDATE, DELETE, MERGE, rewrites and ANALYZE, each as one commit.

DELETE, UPDATE and MERGE are `keyed_changes` or `multiset_changes`, by the kind of the table.
Knows `read`, `write` and `compact`.
"""
