"""Data types, their forms in Arrow and SQL, system columns, and casts between versions of a schema.

`sql_literals` quotes names and writes values as SQL.
"""
