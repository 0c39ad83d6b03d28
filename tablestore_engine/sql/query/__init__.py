"""What a query says about managed tables: which ones it names, where, and which predicates hold for each.

Knows text. Nothing here reads a table or calls Spark.
"""
