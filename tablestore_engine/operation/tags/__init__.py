"""Tags: created, replaced and deleted by name, created by commits for periods, and removed when their time is over.

Knows `expiration` and what lies below it.
"""
