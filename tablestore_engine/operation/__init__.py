"""Use cases over files and metadata, without Spark.

From the bottom: `pages` reads some rows of a Parquet file, `statistics` collects those of columns, `formats` reads and
writes files, `files`
one data file with its metadata; `scan` plans what a query reads, `read` reads it; `dynamic_buckets` finds the buckets
of keys; `commit` makes one atomic change; `write_job` says what a write will do; `write` turns rows into files;
`changelog` finds and makes the changes of a table, `stream` cuts them into pieces; `transaction` ties a write and its
commit together; `expiration` removes what is old or an orphan, `history` rolls back, `tags` keeps snapshots by name;
`compact` merges files; `log_store` publishes a table's log; `table_commands` are whole commands, from the request to
what follows the commit; `kafka_source` takes changes from a topic.

Knows `table_state`, `storage`, `kafka` and the pure rooms below them.
"""
