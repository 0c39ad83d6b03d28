"""Compaction with Spark: tasks of a plan side by side, sorting, z-order, and what is due.

Knows `read` and `write`.
"""
