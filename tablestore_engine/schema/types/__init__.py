"""Data types, their forms in Arrow and SQL, literals, system columns, and casts between versions of a schema."""
