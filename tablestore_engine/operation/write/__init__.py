"""Rows into files: checks of rows, the bucket of each row, buffers, and the cleanup after a failure.

`refused_rows` refuses nulls, duplicate keys and long texts, `bucket_assignment` gives each row its bucket,
`cross_partition_keys` finds keys that cross partitions. Knows `write_job` and what lies below it.
"""
