"""The reason why bytes cannot be read, in plain words, of the errors that Python and its libraries raise for it."""

from __future__ import annotations

import json
import struct
import zlib

_OF_PYTHON = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError)  # whose texts are about code
_CUT = (EOFError, IndexError, MemoryError, OverflowError, struct.error, zlib.error)


def reason_of(error: Exception) -> str:
    """The reason in plain words. Words that a decoder chose itself, as the text of a ValueError, are kept."""
    if isinstance(error, UnicodeDecodeError):
        return "the bytes of a text are not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON, from line {error.lineno}, column {error.colno} on"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if isinstance(error, _CUT):
        return "it ends in the middle, or its parts do not fit together"
    chosen = " ".join(str(error).split())
    return chosen if chosen and not isinstance(error, _OF_PYTHON) else "its bytes are not what its format says"
