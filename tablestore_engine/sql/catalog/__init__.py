"""Statements that need no rows: CREATE, ALTER, DROP, tags and partitions; in `show`, SHOW and DESCRIBE.

Knows the catalog, tables, and `parse` with the rooms below it. No Spark, so that these statements start no JVM.
"""
