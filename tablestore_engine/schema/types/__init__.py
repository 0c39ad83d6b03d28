"""Data types, their forms in Arrow and SQL, system columns and casts between versions. Pure."""
