"""Connections: from a profile to Spark sessions, statements, their results and their errors.

Knows the engine and `dialect`, and no other room of the adapter. Of models it knows only which
writes belong to the steps of one (`model_steps`).
"""
