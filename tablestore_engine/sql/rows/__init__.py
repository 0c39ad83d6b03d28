"""Statements that read or write rows: queries, INSERT, UPDATE, DELETE, MERGE, ANALYZE, rewrites.

Knows the other rooms of `sql` except `procedures`, and `spark`, which executes the statements.
"""
