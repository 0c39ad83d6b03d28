"""Types as SQL text: those of Spark, and the names of other warehouses for them.

Knows `tokens` and the types of `schema`.
"""
