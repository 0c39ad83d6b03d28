"""From a profile to a cursor: credentials, sessions, statements, results, errors.

Knows the engine. Nothing here knows models.
"""
