"""Data files as DataFrames: Spark's own scans, scans by its Python workers, and rows without the deleted ones.

Imports `expressions`, `session` and what lies below `spark`; nothing here merges.
"""
