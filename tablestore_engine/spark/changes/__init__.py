"""Changes as DataFrames: between two snapshots, as the system table `t$audit_log`, and the other tables of that kind.

Knows `read` and what lies below it.
"""
