"""Data types, their forms in Arrow and SQL, default values and system columns.

`sql_literals` quotes names and writes values as SQL. Knows Arrow and `errors`.
"""
