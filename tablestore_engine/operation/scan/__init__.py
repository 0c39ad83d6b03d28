"""Which files and rows of a snapshot a query needs: partitions, buckets, statistics, key lookup, counts.

Knows `files`. Changes nothing.
"""
