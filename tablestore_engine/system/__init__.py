"""System tables as rows: `t$snapshots`, `t$files` and the others that are metadata.

Knows tables. No Spark; tables whose rows are data are in `spark.changelog`.
"""
