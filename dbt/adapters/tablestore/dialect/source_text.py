"""Pieces of a source text: what a node of its tree was read from, with line and column.

sqlglot keeps the positions of names, literals and functions; the piece of a node is all that its inner nodes span,
with the brackets that belong to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST: Final = 100
_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|.", re.DOTALL)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_TYPE_BEHIND: Final = re.compile(r"\s*::\s*\w+(?:\s*\([^()]*\))?|\s+as\s+\w+(?:\s*\([^()]*\))?\s*\)", re.IGNORECASE)


@dataclass(frozen=True)
class Piece:
    """A part of a text, whose first character is in a line and column, both counted from 1."""

    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text}"


def piece_of(node: exp.Expr, source: str) -> Piece | None:
    """The part of the source that a node was read from; None where it is not known."""
    found = [one.meta for one in node.walk() if one.meta.get("start") is not None]
    if not found:
        return None
    start, end = min(one["start"] for one in found), max(one["end"] for one in found) + 1
    start = _beginning(node, source, start) - source[:start].endswith(("$", "@"))
    if type(node).__name__ in ("Cast", "TryCast"):
        behind = _TYPE_BEHIND.match(source, end)
        end = behind.end() if behind else end
    start, end = _balanced(source, start, end)
    return piece_between(source, start, _behind_arguments(node, source, end))


def _behind_arguments(node: exp.Expr, source: str, end: int) -> int:
    """The end of a call whose arguments have no positions, such as `f(interval '1 day')`."""
    if not hasattr(node, "sql_names") or not source[end:].lstrip().startswith("("):
        return end
    depth = 0
    for token in _TOKEN.finditer(source, end):
        depth += (token[0] in _CLOSING) - (token[0] in _CLOSING.values())
        if token[0] in _CLOSING.values() and not depth:
            return token.end()
    return end


def _beginning(node: exp.Expr, source: str, start: int) -> int:
    """The position of a function's name, which sqlglot does not keep for those that are keywords."""
    names = [type(node).__name__, *(node.sql_names() if hasattr(node, "sql_names") else ())]
    if node.meta.get("start") is not None or not hasattr(node, "sql_names"):
        return start
    calls = list(re.finditer(rf"\b(?:{'|'.join(names)})\s*\(", source[:start], re.IGNORECASE))
    return calls[-1].start() if calls else start


def piece_between(source: str, start: int, end: int) -> Piece:
    line = source.count("\n", 0, start) + 1
    column = start - (source.rfind("\n", 0, start) + 1) + 1
    text = " ".join(source[start:end].split())
    return Piece(line, column, text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")


def _balanced(source: str, start: int, end: int) -> tuple[int, int]:
    """The same part with the brackets that it opens or closes, and those directly around it."""
    opened: list[str] = []
    missing = 0
    for token in _TOKEN.findall(source[start:end]):
        if token in _CLOSING:
            opened.append(_CLOSING[token])
        elif token in _CLOSING.values():
            if opened:
                opened.pop()
            else:
                missing += 1
    for _ in range(missing):
        before = max(source.rfind(one, 0, start) for one in _CLOSING)
        start = before if before >= 0 else start
    for closing in reversed(opened):
        after = source.find(closing, end)
        end = after + 1 if after >= 0 else end
    before_it = source[:start].rstrip()
    after_it = len(source) - len(source[end:].lstrip())
    if before_it.endswith("[") and source[after_it : after_it + 1] == "]":
        return len(before_it) - 1, after_it + 1
    return start, end
