"""Models: the effect of a dbt command on their tables. The changes that a model reads since its last run, incremental
models and their on_schema_change, seeds, Python models, run-operation, dbt debug.

Knows `relation`, `config`, `connection` and the engine. Decides and converts; `macro_methods` runs the statements.
"""
