"""Expressions over the columns of one table, and their values for Arrow rows, where these are surely Spark's.

Imports `types` only: no table, no storage.
"""
