"""Access to the files of a warehouse, their names, time and processes; in `metadata_files`, what is stored.

Other rooms reach these files through `file_io`; Spark's own scans open data files by path. Files outside of the
warehouse are elsewhere: the start-up archive and shared servers in `spark.session`, spilled rows in `operation.files`.

Knows metadata and schema, whose values it stores.
"""
