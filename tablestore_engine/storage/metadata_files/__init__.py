"""Stores of the small files of a table and of its warehouse: snapshots, schemas, manifests, tags, consumers and others.

One module for each kind of file: it reads, writes and lists them; their encoding is in `metadata`. Knows
`storage.file_io` and `storage.paths`.
"""
