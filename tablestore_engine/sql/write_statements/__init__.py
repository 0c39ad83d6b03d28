"""Statements that read or write rows: queries, INSERT, CREATE TABLE … AS, ANALYZE, rewrites.

Knows `query_frames`, `catalog` and the rooms of `sql` below it, and `spark`, which executes the statements.
"""
