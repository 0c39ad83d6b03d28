"""The changes of a table: which files hold them, the rows as Arrow, and the changelog files that commits bring.

Knows `write` and what lies below it; `history` knows which ranges there are.
"""
