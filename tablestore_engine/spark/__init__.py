"""The engine on PySpark.

Knows tables, the catalog, system tables and all rooms below them. Besides these rooms, only the front door, the command
line, the rooms of `sql` that handle rows, its `procedures` and `functions`, the adapter and `pyspark_tablestore` import
it.
"""
