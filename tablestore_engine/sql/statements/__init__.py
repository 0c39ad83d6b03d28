"""Statements as frozen values: rows, tables, views, schemas, SHOW, tags, layout, partitions.

Knows no text, no table and no Spark.
"""
