"""Statements that answer what the catalog holds: SHOW, DESCRIBE and INFORMATION_SCHEMA.

Knows the context that the executors of catalog statements share. Changes nothing.
"""
