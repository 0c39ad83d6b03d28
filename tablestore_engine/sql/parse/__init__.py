"""From text to a statement value: `parse` chooses among CREATE, ALTER, SHOW, tags, and `parse_merge_update_delete` (INSERT, UPDATE,
DELETE, MERGE).

Knows text, statements and `query.bind`. No catalog, no Spark.
"""
