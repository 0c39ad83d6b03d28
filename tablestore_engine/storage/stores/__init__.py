"""Stores of the small files of a table and of its warehouse: snapshots, schemas, manifests, tags, consumers and others.

One module for each kind of file: it reads, creates and lists them. Knows `storage.file_io` and `storage.paths`.
"""
