"""Statements that need no rows: CREATE, ALTER, DROP, tags and partitions; in `show`, SHOW and DESCRIBE.

Knows the catalog and tables. No Spark, so that these statements start no JVM.
"""
