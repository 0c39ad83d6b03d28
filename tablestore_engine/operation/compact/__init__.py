"""Compaction: plans, tasks, automatic runs after a write, and the schedule that other processes carry out.

Which runs are merged is decided in `mergetree.compaction`. Knows `tags` and what lies below it.
"""
