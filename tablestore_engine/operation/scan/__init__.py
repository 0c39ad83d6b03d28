"""Which files and rows of a snapshot a query needs: partitions, buckets, statistics, key lookup.

`plan_scan` plans, `file_skipping` leaves files out by their statistics, `stats_may_match` compares a predicate with
bounds. Knows `files`. Changes nothing.
"""
