"""Names in the text that is given to Spark."""

from __future__ import annotations


def quoted(name: str) -> str:
    """The name in backquotes, so that it may contain any character."""
    return "`" + name.replace("`", "``") + "`"


def formatted(name: str) -> str:
    """The quoted name for a text that passes through `str.format` (`SparkSession.sql` with frames)."""
    return quoted(name).replace("{", "{{").replace("}", "}}")
