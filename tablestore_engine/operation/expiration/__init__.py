"""What may be removed: expired snapshots, changelogs and partitions, orphan files, and tags that are dead.

Knows `transaction` and what lies below it.
"""
