"""What a query says about managed tables: which ones it names, where, and which predicates hold for each.

`table_references` finds the tables, with `relations` and `query_body`; `pushdown` finds predicates. Knows text. Nothing
here reads a table or calls Spark.
"""
