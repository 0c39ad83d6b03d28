"""Expressions over the columns of one table, and their values for Arrow rows, where these are surely Spark's.

Imports `types` and `casts` only: no table, no storage.
"""
