"""Building: what a dbt command does to tables. Incremental models and their on_schema_change, seeds, Python models,
run-operation, dbt debug.

Knows `relation`, `config` and `connection`. Decides and converts; `macro_methods` runs the statements.
"""
