"""Statements that read or write rows: queries, INSERT, CREATE TABLE … AS, ANALYZE, rewrites.

`frames` makes a DataFrame of a query, pinned to snapshots; `time_travel` picks the one of VERSION or TIMESTAMP AS OF.
Knows `catalog` and the rooms of `sql` below it, and `spark`, which executes the statements.
"""
