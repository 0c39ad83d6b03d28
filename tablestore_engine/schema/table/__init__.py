"""Table schemas: creation, changes, layout, row kinds, and predicates over columns.

Pure. Knows `merge` and `types` of `schema`, and `options`.
"""
