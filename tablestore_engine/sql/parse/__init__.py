"""From text to a statement value: `parse` chooses among CREATE, ALTER, SHOW, tags, and `parse_dml` (INSERT, UPDATE,
DELETE, MERGE).

Knows text, statements and `query.bind`. No catalog, no Spark.
"""
