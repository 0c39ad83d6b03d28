"""Effects of a statement on the session that it runs in."""

from __future__ import annotations

from tablestore_engine.sql.tokens.lexer import tokenize


def changes_session(statement: str) -> bool:
    """Whether a statement changes its session: by a setting, a temporary view or a temporary function."""
    words = [one.key for one in tokenize(statement[:400])[:6] if one.key]
    if not words:
        return False
    if words[0] in ("SET", "RESET", "USE", "CACHE", "ADD", "DECLARE", "BEGIN"):
        return True
    return words[0] in ("CREATE", "DROP") and ("TEMPORARY" in words or "TEMP" in words)
