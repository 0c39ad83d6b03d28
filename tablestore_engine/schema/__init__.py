"""Types, columns by id, merge engines and table schemas. Pure: no files, no Spark.

Knows `options` and `errors`.
"""
