"""The changes of a table between two snapshots: which range is meant, which files tell them, and the rows as Arrow.

Knows `scan` and `history`. Nothing here commits.
"""
