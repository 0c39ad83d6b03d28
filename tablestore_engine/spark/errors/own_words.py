"""Spark's messages in the words of the user's statement.

Spark's messages contain more than the reason of a failure: the plan that it could not resolve, positions in the text
that it was given, and excerpts of it. That text is not the user's: tables are named by temporary views, and changes are
queries of the engine. Invariant: no name of such a view and no plan leaves this module, and positions are those of the
user's text or are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tablestore_engine.schema.types.sql_literals import quoted_name, unquoted_name

TEMP_VIEW_NUMBER = r"(\.[^\s`\[\]]+|\b__tablestore_\w+)#\d+(?=[`\]])"  # as Java and Python read it
OWN_NAME = r"`?__(?:tablestore|auto_generated)_(\w+)`?"  # the same: what is left of names of the engine or Spark

_TEMP_VIEW = re.compile(r"`((?:[^`\n]|``)*\.(?:[^`\n]|``)*|__tablestore_\w+)#\d+`( AS (`(?:[^`\n]|``)+`|[\w$]+))?")
# In Spark's list of columns that a name may mean.
_OWN = r"(?:`\w+`\.)?`__tablestore_\w+`"
_OWN_COLUMN = re.compile(rf"{_OWN}, |, {_OWN}(?=[\],])|(?<=\[){_OWN}(?=\])")
_CUT = re.compile(r"`([^`\n]*\.[^`\n#]*)#?\d*\.\.\.$")  # Spark cuts what follows an excerpt
_PLAIN = re.compile(r"[\w$.]+")
# The end of a message, after the reason: the position, then the plan or the statement with a mark at the position.
_BEHIND = re.compile(r"(SQLSTATE: \w{5})(?:;? \(?line (\d+),? pos (\d+)\)?)?(?:;?\s*\Z|;\n.*|\n\n== SQL.*)", re.DOTALL)
# The plan that Spark shows within a reason.
_PLAN_WITHIN = re.compile(
    r"(\[UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY\.[^\n]*?):?\n.*?\s*(?=SQLSTATE: 0A000)", re.DOTALL
)
# Frames of this engine, and of the JVM, which Spark names where it does not know the line of Python.
_OWN_FRAME = re.compile(
    r'\n== DataFrame ==\n"[^"\n]*" was called from\n[^\n]*(?:\btablestore_engine\b|\bjava\.base/)[^\n]*'
)
_EXCERPT = re.compile(r"^== SQL[^\n]*==\n(.*)\Z", re.DOTALL | re.MULTILINE)
# A name of the engine that Spark cuts: at the end, also off, where it names an action; and at the beginning, where it
# is of a view, or picks the value of a clause of MERGE. And the casts of a value that is assigned (`assigned_value`).
_CUT_NAME = re.compile(
    r"\b_\w*\.\.\.|, \d (?:A|AS|AS )?\.\.\.|\.\.\.\w*#\d+|\.\.\.\w* WHEN \d+ THEN CAST\("
    r"|\btry_cast\(\(|\bgiven_value\b|\bCAST\(\([^\n]*\) AS [^\n]*\) AS `"
)
_OWN_COLUMN_NAME = re.compile(r"\b__tablestore_\w+(?![\w#])")
_ASSIGNED = re.compile(r"CAST\(\((.*)\) AS [\w(), <>:]+\)")
_SHOWN = re.compile(r"\n== SQL \(line \d+, column (\d+)\) ==\n([^\n]*)\n *\^")
_MARK = re.compile(r"\s*\^+\s*")


@dataclass(frozen=True)
class Reason:
    """The reason of a failure, and its position in the text that Spark was given: a line, from 1, and an offset in
    it."""

    reason: str
    position: tuple[int, int] | None = None


def reason_and_position(text: str) -> Reason:
    """The message about a text that cannot be run, without the plan."""
    text = _PLAN_WITHIN.sub(r"\1. ", text)
    behind = _BEHIND.search(text)
    if behind is None:
        return Reason(own_words(text))
    line, offset = behind[2], behind[3]
    return Reason(own_words(text[: behind.end(1)]), None if line is None else (int(line), int(offset)))


def own_words(text: str) -> str:
    """A message with the names of tables instead of those of their temporary views, also in excerpts."""
    text = _OWN_FRAME.sub("", text)
    excerpt = _EXCERPT.search(text)
    if excerpt is None:
        return _named(text)
    reason, shown = _named(text[: excerpt.start()]), _marked(excerpt[1].rstrip())
    if _is_own(excerpt[1]) or _is_own(shown):
        shown = _expression(excerpt[1].rstrip())
    return f"{reason.rstrip()}\n== SQL ==\n{shown}" if shown else reason.rstrip()


def _is_own(shown: str) -> bool:
    """Whether an excerpt is of a query of the engine: it has a name of the engine's, or cuts one."""
    return _OWN_COLUMN_NAME.search(shown) is not None or _CUT_NAME.search(shown) is not None


def _expression(shown: str) -> str:
    """The marked part of an excerpt of a query of the engine, with its mark; "" where the user did not write it."""
    line, _, mark = shown.partition("\n")
    if not _MARK.fullmatch(mark):
        return ""
    marked = line[mark.index("^") : len(mark.rstrip())]
    cast = _ASSIGNED.fullmatch(marked)
    marked = cast[1] if cast else marked
    if _is_own(marked):
        return ""
    marked = _named(marked)
    return f"{marked}\n{'^' * len(marked)}"


def excerpt(text: str, offset: int) -> str:
    """The line of a text in which an offset lies, and a mark below it."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : end if end >= 0 else len(text)]
    number = text.count("\n", 0, start) + 1
    return f"== SQL (line {number}, column {offset - start + 1}) ==\n{line.rstrip()}\n{' ' * (offset - start)}^"


def marked_line(message: str) -> tuple[str, str, int] | None:
    """The reason in a message, and the line and column, from 1, that its excerpt marks; None without an excerpt."""
    found = _SHOWN.search(message)
    return None if found is None else (message[: found.start()].strip(), found[2], int(found[1]))


def _marked(text: str) -> str:
    """Lines, some with a mark below, with the names of tables; each mark stays below the same word."""
    lines: list[str] = []
    given = text.split("\n")
    for line, below in zip(given, [*given[1:], ""], strict=True):
        if _MARK.fullmatch(line):
            continue
        if not _MARK.fullmatch(below):
            lines.append(_named(line))
            continue
        start, end = below.index("^"), len(below.rstrip())
        before, marked, behind = _named(line[:start]), _named(line[start:end]), _named(line[end:])
        lines += [before + marked + behind, " " * len(before) + "^" * len(marked)]
    return "\n".join(lines)


def _named(text: str) -> str:
    text = _TEMP_VIEW.sub(_name, _CUT.sub(r"\1...", _OWN_COLUMN.sub("", text)))
    return re.sub(OWN_NAME, r"\1", text)


def _name(found: re.Match[str]) -> str:
    name, behind, alias = found[1].replace("``", "`"), found[2] or "", found[3] or ""
    if name.startswith("__tablestore_") and alias:
        return alias
    shown = name if _PLAIN.fullmatch(name) else quoted_name(name)
    last = name.rpartition(".")[2].lower()
    return shown if last == unquoted_name(alias).lower() else shown + behind
