"""From text to a statement value: `parse` chooses among CREATE, ALTER, SHOW, tags, `parse_insert` and
`parse_merge_update_delete`.

Knows `tokens`, `statements`, `query.bind`, and values of `schema` and `metadata`. No catalog, no Spark.
"""
