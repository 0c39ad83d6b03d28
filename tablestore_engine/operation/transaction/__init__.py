"""Transactions: a write begins, publishes its files as one snapshot, and the follow-ups of the commit run.

Statements, DataFrames and Arrow writes go through `transaction.begin` and `transaction.publish`; what follows a commit
is one list, in `after_commit`. Compaction and expiration are such follow-ups, and commit without follow-ups of their
own. Knows all other rooms of `operation`.
"""
