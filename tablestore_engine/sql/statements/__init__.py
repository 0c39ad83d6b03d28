"""Statements as frozen values: rows, tables, views, schemas, SHOW, tags, layout, partitions.

Knows values of `schema` and `metadata`; no text, no table and no Spark.
"""
