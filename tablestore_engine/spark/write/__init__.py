"""A DataFrame into data files: alignment of columns, buckets, tasks, keys that cross partitions.

Knows `read`, by which it looks for keys. Commits nothing.
"""
