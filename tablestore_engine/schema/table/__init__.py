"""Table schemas: creation, changes, layout, row kinds, and predicates over columns."""
