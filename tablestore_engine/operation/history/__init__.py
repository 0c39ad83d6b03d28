"""Old snapshots: expiration, tags, rollback, orphan files, partitions that expire.

Knows `transaction` and what lies below it.
"""
