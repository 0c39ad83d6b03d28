"""Connections: from a profile to Spark sessions, statements, their results and their errors.

Knows the engine and `dialect`, and no other room of the adapter. Nothing here knows models.
"""
