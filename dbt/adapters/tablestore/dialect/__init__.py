"""Dialects: the SQL of a model that was written for another warehouse becomes Spark's, by sqlglot.

Texts in, texts out; knows tokens and errors of the engine's SQL, and no other room of the adapter. `translate` is the
door, and `node_text` handles the CTEs that dbt puts in front of a model's text. `aliases`, `windows`, `row_sources`,
`array_queries`, `column_kinds`, the sub-room `columns` and then `rules` change the tree where sqlglot would give other
values than the warehouse. `source_text` and `sparks_errors` find the piece of a model that an error is about. sqlglot
is imported with the first model that has a dialect.
"""
