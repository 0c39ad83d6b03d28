"""Running queries: rows as Arrow (`collect`), with or without generated code, temporary views and functions, frames and
tables kept for the next statement.

Knows expressions and errors. Nothing here knows how a table is read or written.
"""
