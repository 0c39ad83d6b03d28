"""Rows of a scan read in this process, without Spark: as Arrow batches, or counted.

Knows `scan`, which says what there is to read, and `files`. Changes nothing.
"""
