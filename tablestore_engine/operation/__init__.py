"""Use cases over files and metadata, without Spark.

From the bottom: `files` reads and writes one data file; `scan` plans what a query reads; `commit` makes one atomic
change; `job` says what a write will do; `write` turns rows into files; `transaction` ties a write and its commit
together; `history` expires, tags, rolls back and cleans up; `compact` merges files; `changes` are whole changes, from
the request to what follows the commit.
"""
