"""Rows into files: write jobs, bucket assignment, buffers, key locations, and the cleanup after a failure.

Knows `commit`, `scan` and `files`.
"""
