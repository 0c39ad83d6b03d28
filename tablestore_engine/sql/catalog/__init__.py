"""Statements that need no rows: CREATE, ALTER, DROP, SHOW, DESCRIBE, tags and partitions.

Knows the catalog and tables. No Spark, so that these statements start no JVM.
"""
