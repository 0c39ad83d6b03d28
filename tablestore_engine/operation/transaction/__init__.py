"""Transactions: a write begins, its files are published as one snapshot, and then follows what a commit entails.

Every verb on a table, with Spark or without it, goes through `transaction.begin` and `transaction.publish`; what
follows a commit is one list, in `after_commit`. Knows all other rooms of `operation`.
"""
