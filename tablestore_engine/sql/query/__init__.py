"""Queries: which managed tables a query names, at which offsets, and which predicates hold for each.

May import text. Reads no table and does not call Spark.
"""
