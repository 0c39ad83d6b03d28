"""The metadata of a table in the format: snapshots, tags, statistics, binary rows, partitions, buckets and plans.

Sub-rooms: `manifest_encoding` (which data files a snapshot has; `storage` writes them), `file_index`, `bitmaps`, and
`warehouse` (records that belong to no table). Pure: values and their bytes or JSON text, no files. Knows `schema`,
`options` and `errors`.
"""
