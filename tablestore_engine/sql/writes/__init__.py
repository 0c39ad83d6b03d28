"""Writes of the front door without a statement: DataFrames, and streams of them.

Knows `rows` and what lies below it.
"""
