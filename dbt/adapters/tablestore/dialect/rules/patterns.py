"""Patterns of times: what is literal text in them is quoted, because Java takes every letter for a part of a time.

Years of two digits are of 1970 to 2069, or of 1969 to 2068; those of Spark begin with 2000.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sqlglot import exp
from sqlglot.dialects import Spark
from sqlglot.dialects.dialect import Dialect
from sqlglot.time import format_time

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.counterparts.pattern_texts import text_of_time

_PERCENT: Final = ("bigquery", "duckdb", "trino")
_LETTERS: Final = ("snowflake", "postgres", "redshift")
_WITH_PATTERN: Final = (exp.TimeToStr, exp.StrToTime, exp.StrToDate, exp.StrToUnix, exp.TsOrDsToDate)
# A part of a time as sqlglot writes it in every dialect, a text in quotes, the T between day and hour.
_PART: Final = re.compile(r"%(?:%|E[0-9*]S|Ez|-?[A-Za-z](?:strict)?)")
_LETTER_BEHIND_SIGN: Final = re.compile(r"(?<!%)(?:%%)+[A-Za-z]")
_QUOTED: Final = re.compile(r'"([^"]*)"|(?<=[dj])(T)(?=%)')
_RESERVED: Final = re.compile(r"[A-Za-z'\[\]{}#]")
# Parts that sqlglot does not know, or writes as another part: the number of a day in a year has three digits.
_SPARKS: Final[dict[str, str]] = {"%Q": "Q", "%j": "DDD", "%E3S": "%S.SSS", "%E6S": "%S.SSSSSS", "%Ez": "xxx"}
_PARSED: Final[dict[str, str]] = {"%E*S": "%S[.SSSSSS]"}
"""Parts that a text may have in several lengths."""
_FRACTIONS: Final = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "nine": 9}
_MADE: Final = re.compile("S*(?:xxx)?")
_FRACTION: Final = re.compile(r"%f_(zero|one|two|three|four|five|six|nine)")
_FIRST_YEAR: Final = {"bigquery": 1969, "duckdb": 1969}
# Parts of Postgres' patterns that sqlglot leaves as they are.
_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("AM", "PM", "am", "pm"), "a"), "Mon": "MMM", "Dy": "EEE", "MS": "SSS", "Q": "Q",
}  # fmt: skip
_DAY: Final = re.compile(r"(?<!%)%[aA]")
_LITERAL: Final = re.compile(r"""'(?:[^']|'')*'""")
_WORD: Final = re.compile(r"%(?:%|-?[A-Za-z])|[A-Za-z]+")


def quote_patterns(tree: exp.Expr, dialect: str) -> None:
    """Change the patterns of a query that another dialect's functions have."""
    if dialect not in (*_PERCENT, *_LETTERS):
        return
    for text in list(tree.find_all(exp.TimeToStr)):
        joined = text_of_time(text, dialect)
        if joined is not None:
            text.replace(joined)
    for node in list(tree.find_all(*_WITH_PATTERN)):
        pattern = node.args.get("format")
        if isinstance(pattern, exp.Literal):
            given = pattern.name
            further: Mapping[str, str] = {} if isinstance(node, exp.TimeToStr) else _PARSED
            with about(node):
                if not isinstance(node, exp.TimeToStr):
                    given = _without_day(node, given)
                made_of = _percent(given, dialect, further) if dialect in _PERCENT else _letters(given, dialect)
                pattern.set("this", made_of)
            made = _null_where_it_fails(node) if node.args.get("safe") else node
            if "%y" in given and not isinstance(node, exp.TimeToStr):
                _in_century(made, _FIRST_YEAR.get(dialect, 1970))


def _without_day(node: exp.Expr, pattern: str) -> str:
    """The pattern by which a text is read, without the name of a day, which Spark cannot read and no date needs.

    At the beginning it is cut from the text, too. Raises Untranslatable for it elsewhere.
    """
    day = _DAY.match(pattern)
    if day is not None:
        cut = [node.this.copy(), exp.Literal.string(r"^\s*\p{L}+"), exp.Literal.string("")]
        node.set("this", exp.Anonymous(this="REGEXP_REPLACE", expressions=cut))
        pattern = pattern[day.end() :]
    if _DAY.search(pattern):
        raise Untranslatable(f"the name of a day in the pattern '{pattern}', by which a text is read")
    return pattern


def _in_century(node: exp.Expr, first: int) -> None:
    """A time whose year has two digits, 100 years earlier where it is behind the last year."""
    if isinstance(node, exp.StrToUnix):
        raise Untranslatable("a year of two digits in a pattern")
    parsed = node.copy()
    late = exp.GTE(this=exp.Year(this=parsed.copy()), expression=exp.Literal.number(first + 100))
    century = exp.Interval(this=exp.Literal.string("100"), unit=exp.Var(this="YEAR"))
    earlier = exp.Sub(this=parsed.copy(), expression=century)
    node.replace(exp.Anonymous(this="IF", expressions=[late, earlier, parsed]))


def _null_where_it_fails(node: exp.Expr) -> exp.Expr:
    """TRY_TO_TIMESTAMP and such, which sqlglot writes as TO_TIMESTAMP."""
    name: dict[type, str] = {
        exp.StrToTime: "TRY_TO_TIMESTAMP",
        exp.StrToDate: "TRY_TO_DATE",
        exp.TsOrDsToDate: "TRY_TO_DATE",
    }
    made = name.get(type(node))
    pattern = Spark().generator().format_time(node)
    if not made or not pattern:
        return node
    safe = exp.Anonymous(this=made, expressions=[node.this.copy(), exp.maybe_parse(pattern)])
    node.replace(safe)
    return safe


def _percent(pattern: str, dialect: str, further: Mapping[str, str]) -> str:
    """A pattern whose parts begin with a percent sign; all else is literal text."""
    found, literal, position = "", "", 0
    if _LETTER_BEHIND_SIGN.search(pattern):
        raise Untranslatable(f"%% in front of a letter in the pattern '{pattern}'")
    for part in _PART.finditer(pattern):
        literal += pattern[position : part.start()]
        position = part.end()
        if part[0] == "%%":
            literal += "%"
            continue
        if part[0] in ("%e", "%-d") and dialect == "bigquery":
            raise Untranslatable("%e in a pattern, which fills with a blank")
        sparks = {**_SPARKS, **further}
        if part[0] not in Spark.INVERSE_TIME_MAPPING and part[0] not in sparks:
            raise Untranslatable(f"{part[0]} in the pattern '{pattern}'")
        found += _literal(literal) + sparks.get(part[0], part[0])
        literal = ""
    return found + _literal(literal + pattern[position:])


def _letters(pattern: str, dialect: str) -> str:
    """A pattern whose parts are letters; what is in double quotes is literal text."""
    given = _as_written(pattern, dialect)
    pattern = _FRACTION.sub(lambda found: "S" * _FRACTIONS[found[1]], pattern).replace("%:z", "xxx")
    quoted = _QUOTED.sub(lambda found: _literal(found[1] if found[2] is None else found[2]), pattern)
    pieces, position = [], 0
    for text in _LITERAL.finditer(quoted):
        pieces += [_parts(quoted[position : text.start()], given), text[0]]
        position = text.end()
    return "".join([*pieces, _parts(quoted[position:], given)])


def _parts(text: str, pattern: str) -> str:
    """Parts of a time without literal text. Raises Untranslatable for letters that Spark takes for other parts."""

    def part(found: re.Match[str]) -> str:
        word = found[0]
        if word in _SPARKS or _MADE.fullmatch(word):
            return _SPARKS.get(word, word)
        if word in Spark.INVERSE_TIME_MAPPING:
            return word
        if word not in _WORDS:
            raise Untranslatable(f"a part of the pattern of a time '{pattern}'")
        return _WORDS[word]

    return _WORD.sub(part, text)


def _as_written(pattern: str, dialect: str) -> str:
    """A pattern as the dialect writes it."""
    source = Dialect.get_or_raise(dialect)
    return format_time(pattern, source.INVERSE_TIME_MAPPING, source.INVERSE_TIME_TRIE) or pattern


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'" if _RESERVED.search(text) else text
