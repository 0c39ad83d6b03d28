"""Compaction with Spark: parallel tasks of a plan, sorting, z-order, and due compactions.

Knows `read` and `write`, and what lies below them.
"""
