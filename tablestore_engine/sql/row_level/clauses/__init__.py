"""The clauses of a row-level operation: which one applies to a row, and its values, as a query or in Arrow.

Knows texts, types and Arrow rows: no table, no Spark.
"""
