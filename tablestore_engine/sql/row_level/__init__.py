"""Row-level operations, which compute new rows from rows of the table: UPDATE, DELETE, MERGE, INSERT … REPLACE WHERE.

`row_level_target` reads the table and writes the changed rows; `merge_as_upsert` decides that a MERGE reads none; with
`former_partitions`, statements about a part of an old partition become such operations. Knows `write_statements`, whose
frames run the queries.
"""
