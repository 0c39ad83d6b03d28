"""Spark sessions: configuration, the Java behind them, the start-up archive, and the cache of sessions.

Knows nothing of tables.
"""
