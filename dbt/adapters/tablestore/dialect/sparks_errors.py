"""Spark's errors about a translated text: the piece of the model's own text that they are about.

Spark marks a position in the translation. The smallest node of the tree whose translation is at this position says
where it is in the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dbt.adapters.tablestore.dialect.source_text import Piece, piece_of
from dbt.adapters.tablestore.dialect.translate import NEXT, Translation
from tablestore_engine.errors import ParseError, SqlError, TableStoreError
from tablestore_engine.spark.errors.error_hints import DIALECT
from tablestore_engine.sql.tokens.lexer import tokenize

_PREFIX: Final = "spark__"
_MOST_TOKENS: Final = 400
_UNKNOWN: Final = re.compile(r"\[(?:UNRESOLVED_ROUTINE|UNRESOLVABLE_TABLE_VALUED_FUNCTION|ROUTINE_NOT_FOUND)")
_INSTEAD: Final = re.compile(r"^Write (\w+\(.*\))\.", re.MULTILINE)
_EXCERPT: Final = re.compile(r"^== SQL ==\n(.+)\n([ ]*\^+)", re.MULTILINE)
_CALLED: Final = re.compile(r"\"(\w+)\(|for (\w+) function")
_OPERATOR: Final = re.compile(r"Cannot resolve \"(?:\(|concat\()")
_NAME: Final = re.compile(r"([\w.$`\"]+)\s*\(")


def about_source(
    error: TableStoreError, reason: str, line: str, column: int, translations: Sequence[Translation]
) -> str | None:
    """The message about a translated text that Spark refuses; None where the marked line is of another text.

    reason: what Spark says. line, column: what it marks; the column is counted from 1.
    """
    for one in translations:
        offset = _offset(one.text, line, column)
        if offset is None:
            continue
        # A text that does not parse is wrong between the marked word and the one before it.
        of_operator = _OPERATOR.search(str(error)) is not None
        piece = _piece_at(one, offset, 1 if isinstance(error, ParseError) else 0, of_operator=of_operator)
        if isinstance(error, ParseError):
            where = f", in {piece}" if piece is not None else f", near: {line.strip()}"
            return (
                f"{one.subject} in the dialect '{one.dialect}' has a construct that Spark's SQL does not have{where}. "
                f"Spark says of the translation, which is in target/run: {reason.rstrip('.')}. {NEXT}"
            )
        if _UNKNOWN.search(str(error)):
            return _unknown(one, str(error), piece)
        said = str(error).replace(f" {DIALECT}", "")
        subject = f"{one.subject[:1].lower()}{one.subject[1:]}"
        return None if piece is None else f"{said}\nIn the dialect '{one.dialect}', {subject} has this in {piece}."
    return None


def about_unmarked(error: TableStoreError, translations: Sequence[Translation]) -> str | None:
    """The message about a translated text in which Spark marks no line and column; None where it may be about
    something else. What it shows, or the function that it names, is searched in the translations."""
    said = str(error).replace(f" {DIALECT}", "")
    for one in translations:
        offset = _shown(one.text, said)
        piece = None if offset is None else _piece_at(one, offset, 0)
        if piece is not None:
            subject = f"{one.subject[:1].lower()}{one.subject[1:]}"
            return f"{said}\nIn the dialect '{one.dialect}', {subject} has this in {piece}."
    if not translations or not isinstance(error, SqlError):
        return None
    last = translations[-1]
    return f"{said}\n{last.subject} is in the dialect '{last.dialect}'; its translation is in target/run."


def _shown(text: str, said: str) -> int | None:
    """The offset of what Spark shows above its marks, or of the only call of a function that it names."""
    excerpt = _EXCERPT.search(said)
    if excerpt is not None:
        return _offset(text, excerpt[1], excerpt[2].index("^") + 1)
    name = _CALLED.search(said)
    calls = [] if name is None else list(re.finditer(rf"\b{name[1] or name[2]}\s*\(", text, re.IGNORECASE))
    return calls[0].start() if len(calls) == 1 else None


def _unknown(translation: Translation, said: str, piece: Piece | None) -> str:
    """The message about a function that neither the translation nor Spark knows."""
    found = _INSTEAD.search(said)
    instead = "" if found is None else f"spark__{found[1]} is near to it. "
    name = _NAME.match(piece.text) if piece is not None else None
    called = "a function" if name is None else f"the function {name[1]}"
    where = "" if piece is None else f", in {piece}"
    if name is not None and name[1].lower().startswith(_PREFIX):
        return (
            f"{translation.subject} in the dialect '{translation.dialect}' calls {called}, but Spark has no function "
            f"{name[1][len(_PREFIX) :]}{where}. {instead}SHOW FUNCTIONS lists those that there are."
        )
    return (
        f"{translation.subject} in the dialect '{translation.dialect}' calls {called}, which has no counterpart in "
        f"Spark's SQL and is none of this warehouse{where}. {instead}Write it with functions of Spark's, which have "
        "the prefix spark__ here, or in a macro; make a function of this name; or write the model in Spark's SQL with "
        "`dialect: spark`."
    )


def _offset(text: str, line: str, column: int) -> int | None:
    """The offset of a column in the line of a text that reads so."""
    start = 0
    for one in text.split("\n"):
        if one.rstrip() == line.rstrip() or (line.strip() and one.strip() == line.strip()):
            moved = len(one) - len(one.lstrip()) - (len(line) - len(line.lstrip()))
            return start + column - 1 + moved
        start += len(one) + 1
    return None


def _piece_at(translation: Translation, offset: int, before: int, *, of_operator: bool = False) -> Piece | None:
    """The piece of the source from which the text at an offset was made, with some words before it. Where an operator
    begins there, it is that of the operator, and not only of its left side."""
    from sqlglot import exp

    tokens = tokenize(translation.text)
    at = next((i for i, one in enumerate(tokens) if one.start <= offset < one.end), None)
    if at is None:
        return None
    words = [translation.text[one.start : one.end] for one in tokens]
    best: tuple[int, Piece] | None = None
    for node in translation.tree.walk():
        if isinstance(node, (exp.Query, exp.Identifier)):
            continue
        own = node.sql("spark")
        part = [own[one.start : one.end] for one in tokenize(own) if one.end > one.start]
        if not part or len(part) > _MOST_TOKENS or (best is not None and len(part) >= best[0]):
            continue
        starts = range(max(at - len(part) + 1, 0), at - before + 1)
        if any(words[i : i + len(part)] == part for i in starts):
            left = of_operator and isinstance(node.parent, exp.Binary) and node.arg_key == "this"
            piece = piece_of(node.parent if left and node.parent is not None else node, translation.source)
            best = best if piece is None else (len(part), piece)
    return None if best is None else best[1]
