"""Table schemas: creation, changes, layout, row kinds, and predicates over columns.

Pure. Knows `merge_engines`, `casts` and `types` of `schema`, and `options`.
"""
