"""What happens when a model is built: incremental strategies, seeds, Python models, checks, operations.

Knows `config`, `relation` and `connection`.
"""
