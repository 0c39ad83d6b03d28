"""Queries as DataFrames that are pinned to one consistent set of snapshots.

`pinned_query` binds the queries of one statement, `table_frames` reads its tables, `time_travel` picks the snapshot of
VERSION or TIMESTAMP AS OF, `called_functions` finds the functions of the warehouse, and `explained_query` shows plans.
Knows `catalog` and the rooms of `sql` below it, and `spark`.
"""
