"""Writes of the front door without a statement: DataFrames, and streams of them.

Knows `write_statements` and what lies below it.
"""
