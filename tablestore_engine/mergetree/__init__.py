"""The merge tree of a bucket: sorted runs on levels, which runs to compact, and how records of one key become one row.

Pure: values and Arrow tables in, the same out; no files. Knows `metadata`, `schema`, `options` and `errors`.
"""
