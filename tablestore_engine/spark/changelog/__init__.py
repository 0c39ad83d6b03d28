"""The change feed as DataFrames: between two snapshots, and as `t$audit_log` and the other tables of that kind.

Knows `read` and what lies below it.
"""
