"""The changes of a table: which files hold them, the rows as Arrow, the changelog files that commits bring; and how far
the log of a table is.

Knows `write` and what lies below it; `history` knows which ranges there are.
"""
