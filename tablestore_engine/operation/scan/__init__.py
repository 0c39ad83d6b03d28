"""Which files and rows of a snapshot a query needs: partitions, buckets, statistics, key lookup.

`scan` plans, `file_skipping` leaves files out by their statistics, `may_match` compares a predicate with bounds. Knows
`files`. Changes nothing.
"""
