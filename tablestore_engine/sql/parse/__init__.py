"""From text to a statement value: `parse` chooses among CREATE, ALTER, SHOW, tags, and `parse_dml` (INSERT, UPDATE,
DELETE, MERGE).

Knows text and statements. No catalog, no Spark.
"""
