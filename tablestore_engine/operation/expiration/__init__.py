"""Removal of what is old or unknown: expired snapshots, changelogs and partitions, orphan files, and dead tags.

Knows `transaction` and what lies below it.
"""
