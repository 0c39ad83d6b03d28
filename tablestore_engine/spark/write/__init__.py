"""A DataFrame into data files: alignment of columns, buckets, tasks, keys that cross partitions.

Knows `scan` and what lies below it. Commits nothing.
"""
