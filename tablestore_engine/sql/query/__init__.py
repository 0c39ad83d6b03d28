"""Managed tables in a query: which views replace them, and which predicates hold for each.

`bind` replaces the tables that `sql.query_structure` finds by pinned views; `pushdown` finds predicates. Knows
`query_structure`, `tokens`, the values of statements, views and functions, and a schema's predicates. Nothing here
reads a table or calls Spark.
"""
