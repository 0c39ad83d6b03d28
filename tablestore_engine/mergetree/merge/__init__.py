"""Merging records of one key on Arrow tables: their order, folds, retractions and sequence groups.

The rules are those of `schema.merge_engines`. Spark's counterparts, which read without writing, are in `spark.folds`.
Knows `sketch`, `arrow_kernels` and `schema`.
"""
