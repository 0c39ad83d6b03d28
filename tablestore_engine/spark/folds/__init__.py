"""The functions of merge engines as Spark SQL, for reads that merge several runs.

Knows `expressions`, and `mergetree`, which folds what SQL cannot. Nothing here reads a file or runs a query.
"""
