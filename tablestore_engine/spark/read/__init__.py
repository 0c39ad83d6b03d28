"""A table as a DataFrame: scans of files, merging on read, deletion vectors, retractions.

`merge_on_read` chooses how; `multiset_reader` reads tables whose rows are counted. `key_blocks` starts no Spark: it
prepares keys for Spark's joins only. Knows `scan` and what lies below it; writes nothing.
"""
