"""What a table's past is used for: rollback, ranges of changes, and partitions that are marked as complete.

Knows `expiration`, `transaction` and what lies below them.
"""
