"""The plan of a write, before it sees rows: its intent, its job and its sequence number.

Knows `commit`, `dynamic_buckets` and what lies below them.
"""
