"""Use cases over files and metadata, without Spark.

From the bottom: `files` reads and writes one data file; `scan` plans what a query reads; `commit` makes one atomic
change;
`job` says what a write will do; `write` turns rows into files; `history` expires, tags and cleans up; `compact` merges
files; `transaction` ties a write, its commit and what follows it together.
"""
