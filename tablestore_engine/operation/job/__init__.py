"""The plan of a write, before it sees rows: intent, job, sequence number, and the buckets of keys.

`bucket_filling` decides which bucket a new key gets, `dynamic_bucket` keeps the index from keys to buckets. Knows
`commit` and what lies below it.
"""
