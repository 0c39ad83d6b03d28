"""Patterns of times: what is literal text in them is quoted, because Java takes every letter for a part of a time."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp
from sqlglot.dialects import Spark

from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_PERCENT: Final = ("bigquery", "duckdb", "trino")
_LETTERS: Final = ("snowflake", "postgres", "redshift")
_WITH_PATTERN: Final = (exp.TimeToStr, exp.StrToTime, exp.StrToDate, exp.StrToUnix, exp.TsOrDsToDate)
# A part of a time as sqlglot writes it in every dialect, a text in quotes, the T between day and hour.
_PART: Final = re.compile(r"%(?:%|-?[A-Za-z](?:strict)?)")
_QUOTED: Final = re.compile(r'"([^"]*)"|(?<=[dj])(T)(?=%)')
_RESERVED: Final = re.compile(r"[A-Za-z'\[\]{}#]")
_SPARKS: Final[dict[str, str]] = {"%Q": "Q"}
# Parts of Postgres' patterns that sqlglot leaves as they are.
_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("AM", "PM", "am", "pm"), "a"), "Mon": "MMM", "Dy": "EEE", "MS": "SSS", "Q": "Q",
}  # fmt: skip
_LITERAL: Final = re.compile(r"""'(?:[^']|'')*'""")
_WORD: Final = re.compile(r"%(?:%|-?[A-Za-z])|[A-Za-z]+")


def quote_patterns(tree: exp.Expr, dialect: str) -> None:
    """Change the patterns of a query that another dialect's functions have."""
    if dialect not in (*_PERCENT, *_LETTERS):
        return
    for node in tree.find_all(*_WITH_PATTERN):
        pattern = node.args.get("format")
        if isinstance(pattern, exp.Literal):
            pattern.set("this", _percent(pattern.name, dialect) if dialect in _PERCENT else _letters(pattern.name))
            if node.args.get("safe"):
                _null_where_it_fails(node)


def _null_where_it_fails(node: exp.Expr) -> None:
    """TRY_TO_TIMESTAMP and such, which sqlglot writes as TO_TIMESTAMP."""
    name: dict[type, str] = {
        exp.StrToTime: "TRY_TO_TIMESTAMP",
        exp.StrToDate: "TRY_TO_DATE",
        exp.TsOrDsToDate: "TRY_TO_DATE",
    }
    made = name.get(type(node))
    pattern = Spark().generator().format_time(node)
    if made and pattern:
        node.replace(exp.Anonymous(this=made, expressions=[node.this.copy(), exp.maybe_parse(pattern)]))


def _percent(pattern: str, dialect: str) -> str:
    """A pattern whose parts begin with a percent sign; all else is literal text."""
    found, literal, position = "", "", 0
    for part in _PART.finditer(pattern):
        literal += pattern[position : part.start()]
        position = part.end()
        if part[0] == "%%":
            literal += "%"
            continue
        if part[0] in ("%e", "%-d") and dialect == "bigquery":
            raise Untranslatable("%e in a pattern, which fills with a blank")
        if part[0] not in Spark.INVERSE_TIME_MAPPING and part[0] not in _SPARKS:
            raise Untranslatable(f"{part[0]} in the pattern '{pattern}'")
        found += _literal(literal) + _SPARKS.get(part[0], part[0])
        literal = ""
    return found + _literal(literal + pattern[position:])


def _letters(pattern: str) -> str:
    """A pattern whose parts are letters; what is in double quotes is literal text."""
    quoted = _QUOTED.sub(lambda found: _literal(found[1] if found[2] is None else found[2]), pattern)
    pieces, position = [], 0
    for text in _LITERAL.finditer(quoted):
        pieces += [_parts(quoted[position : text.start()], pattern), text[0]]
        position = text.end()
    return "".join([*pieces, _parts(quoted[position:], pattern)])


def _parts(text: str, pattern: str) -> str:
    """Parts of a time without literal text. Raises Untranslatable for letters that Spark takes for other parts."""

    def part(found: re.Match[str]) -> str:
        word = found[0]
        if word in Spark.INVERSE_TIME_MAPPING:
            return word
        if word not in _WORDS:
            raise Untranslatable(f"{word} in the pattern of a time '{pattern}'")
        return _WORDS[word]

    return _WORD.sub(part, text)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'" if _RESERVED.search(text) else text
