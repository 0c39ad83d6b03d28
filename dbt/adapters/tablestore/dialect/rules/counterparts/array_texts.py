"""Arrays of Postgres that are written in a text."""

from __future__ import annotations

import re
from typing import Final

_ELEMENT: Final = re.compile(r"""\s*(?:"([^"\\]*)"|([^\s",{}\\](?:[^",{}\\]*[^\s",{}\\])?))\s*(,|\Z)""")


def texts_of_array(literal: str) -> list[str | None] | None:
    """The elements of Postgres' '{a,"b,c",null}'; None for another text, one with escapes, or of several dimensions."""
    literal = literal.strip()
    if len(literal) < len("{}") or literal[0] != "{" or literal[-1] != "}":
        return None
    inner, made, position = literal[1:-1], list[str | None](), 0
    while inner.strip():
        found = _ELEMENT.match(inner, position)
        if found is None:
            return None
        quoted, plain = found[1], found[2]
        made.append(quoted if plain is None else None if plain.lower() == "null" else plain)
        position = found.end()
        if not found[3]:
            break
    return made
