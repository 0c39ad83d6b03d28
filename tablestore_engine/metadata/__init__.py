"""What the format writes down about a table: snapshots, manifests, data files, index files, keys, partitions, buckets.

Pure: values and their bytes or JSON text, no files. Knows `schema`, `options` and `errors`.
"""
