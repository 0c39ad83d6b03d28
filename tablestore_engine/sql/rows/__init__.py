"""Statements that read or write rows: queries, INSERT, UPDATE, DELETE, MERGE, ANALYZE, rewrites.

Knows the rooms above it in this list and `spark`, which carries the statements out.
"""
