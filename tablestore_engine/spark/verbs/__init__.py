"""What statements do to rows: INSERT, UPDATE, DELETE, MERGE, rewrites and ANALYZE, each as one commit.

Knows `read`, `write` and `compact`.
"""
