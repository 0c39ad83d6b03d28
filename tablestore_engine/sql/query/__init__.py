"""Managed tables in a query: which views replace them, and which predicates hold for each.

`bind` replaces the tables that `sql.query_structure` finds by pinned views; `pushdown` finds predicates. Knows
structure, text, the values of statements and a schema's predicates. Nothing here reads a table or calls Spark.
"""
