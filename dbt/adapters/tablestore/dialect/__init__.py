"""Dialects: the SQL of a model that was written for another warehouse becomes Spark's, by sqlglot.

Texts in, texts out; knows tokens of the engine's SQL, and no other room of the adapter. `translate` is the door,
`node_text` handles the CTEs that dbt puts in front of a model's text, and the others correct the tree where sqlglot
would give other values than the warehouse. sqlglot is imported with the first model that has a dialect.
"""
