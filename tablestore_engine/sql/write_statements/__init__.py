"""Statements that write: INSERT, CREATE TABLE … AS, ANALYZE, rewrites; and the context of every statement on rows.

Knows `pinned_queries`, `catalog` and the rooms of `sql` below it, and `spark`, which executes the statements.
"""
