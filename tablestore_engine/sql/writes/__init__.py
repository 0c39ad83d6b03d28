"""What the front door writes without a statement: DataFrames, and streams of them.

Knows `rows` and what lies below it.
"""
