"""The one way to commit: a change begins on a snapshot and is published as the next one.

Statements, DataFrames, Arrow writes, rollbacks, compactions and the expiration of partitions go through `transaction`;
no other room calls the `Committer` of `commit`. The steps after a commit are in `table_commands.after_commit`. Knows
`changelog`, what lies below it, and of `kafka` which tables have a log.
"""
