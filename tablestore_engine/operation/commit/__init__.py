"""One atomic change of a table: identity, conflicts, index, replacement, retries.

Knows `scan` and `files`. Writes metadata only.
"""
