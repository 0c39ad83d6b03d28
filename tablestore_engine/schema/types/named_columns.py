"""Which columns the SQL text of an expression names, without Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tablestore_engine.schema.types.names import Names

_PIECE: Final = re.compile(
    r"""
      --(?:[^\r\n\\]|\\\n|\\)*
    | (?P<block>/\*)
    | [rR](?:'[^']*'|"[^"]*")
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*"
    | \$(?P<tag>[A-Za-z]*)\$.*?\$(?P=tag)\$
    | `(?P<quoted>(?:[^`]|``)*)`
    | (?P<word>\w+(?:\$\w+)*)(?P<called>\()?
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT_EDGE: Final = re.compile(r"/\*|\*/")


def named_columns(sql: str, columns: Iterable[str]) -> list[str]:
    """Those of a table's columns that an expression names, outside of its comments and strings."""
    columns = tuple(columns)
    names = Names(columns)
    found = {names.find(one) for one in _identifiers(sql)}
    return [one for one in columns if one in found]


def _identifiers(sql: str) -> Iterator[str]:
    """The words, apart from names of functions, and the names in backquotes."""
    position = 0
    while (piece := _PIECE.search(sql, position)) is not None:
        position = piece.end()
        if piece["block"]:
            position = _end_of_comment(sql, position)
        elif piece["quoted"] is not None:
            yield piece["quoted"].replace("``", "`")
        elif piece["word"] and not piece["called"]:
            yield piece["word"]


def _end_of_comment(sql: str, position: int) -> int:
    """The offset behind a block comment, which may hold others, of which the first two characters were read."""
    depth = 1
    while depth and (edge := _COMMENT_EDGE.search(sql, position)) is not None:
        depth += 1 if edge.group() == "/*" else -1
        position = edge.end()
    return len(sql) if depth else position
