"""Table schemas: creation, changes, layout, row kinds, predicates over columns. Pure."""
