"""The functions of merge engines as Spark SQL, for reads that merge several runs.

Knows expressions. Nothing here reads a file or runs a query.
"""
