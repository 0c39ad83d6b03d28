"""A DataFrame into data files: alignment of columns, buckets, tasks, keys that cross partitions.

Knows `read`, which looks up keys. Commits nothing.
"""
