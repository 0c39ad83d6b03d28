"""The changes of a table: which files hold them, the rows as Arrow, the changelog files that commits bring; and how far
the log of a table is.

Knows `write`, what lies below it, and the room `kafka`; `history` knows which ranges there are.
"""
