"""Tables with dynamic buckets: the index from keys to buckets, and the bucket that a new key gets.

`hash_index` keeps the index, `bucket_filling` decides. Knows `files` and what lies below it.
"""
