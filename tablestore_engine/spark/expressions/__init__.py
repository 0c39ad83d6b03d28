"""Columns and expressions as Spark SQL text: names, types, casts, default values and bucket hashes.

Knows `schema` and `metadata`, and no other room of `spark`. Nothing here reads a file or runs a query.
"""
