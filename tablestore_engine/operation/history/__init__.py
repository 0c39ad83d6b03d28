"""Old snapshots: expiration, tags, rollback, orphan files, partitions that expire.

Knows `write`, `commit`, `scan` and `files`.
"""
