"""Columns and expressions in Spark's words: names, types, casts, folds and bucket hashes as SQL text.

Nothing here reads a file or runs a query.
"""
