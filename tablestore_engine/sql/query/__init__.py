"""What a query says about managed tables: which ones it names, where, and which predicates hold for each.

`table_references` finds the tables, with `query_body` (clauses) and `from_item` (one table with its time travel and
alias); `bind` replaces them by pinned views; `pushdown` finds predicates. Knows text. Nothing here reads a table or
calls Spark.
"""
