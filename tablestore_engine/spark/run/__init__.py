"""Running Spark: collecting Arrow, temporary views, messages of errors, frames kept for the next statement.

Knows expressions. Nothing here knows how a table is read or written.
"""
