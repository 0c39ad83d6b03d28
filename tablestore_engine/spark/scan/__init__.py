"""Data files as DataFrames: Spark's own scans, scans by its Python workers, and rows without the deleted ones.

`deletion_vector_words`, `orc_files` and `stored_integers` start no Spark: they decide how its scans read files, and no
other reader asks them. Imports `expressions`, `session` and what lies below `spark`; nothing here merges.
"""
