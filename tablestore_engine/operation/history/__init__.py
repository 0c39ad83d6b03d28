"""Uses of a table's past: rollback, ranges of changes, and partitions that are marked as complete.

Knows `expiration`, `transaction` and what lies below them.
"""
