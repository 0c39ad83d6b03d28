"""Building: what a dbt command does to tables. Incremental models, seeds, Python models, run-operation, dbt debug.

Knows `relation`, `config` and `connection`. Decides and converts; `verbs` runs the statements.
"""
