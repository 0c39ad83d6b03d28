"""Columns and expressions as Spark SQL text: names, types, casts, default values and bucket hashes.

Nothing here reads a file or runs a query.
"""
