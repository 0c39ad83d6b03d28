"""From text to a statement value: `parse` chooses among CREATE, ALTER, SHOW, tags, `parse_insert` and
`parse_merge_update_delete`.

Knows text, statements and `query.bind`. No catalog, no Spark.
"""
