"""Transactions: a write begins, publishes its files as one snapshot, and the follow-ups of the commit run.

Every verb on a table, with Spark or without it, goes through `transaction.begin` and `transaction.publish`; what
follows a commit is one list, in `after_commit`. Knows all other rooms of `operation`.
"""
