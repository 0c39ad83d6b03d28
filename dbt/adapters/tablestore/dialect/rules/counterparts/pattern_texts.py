"""Texts by patterns that Spark has not: of times with weeks, days of a week or padded names, and of numbers.

Such a text of a time is a concatenation: of what Spark's patterns give, and of what is computed for these parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled

_ISO_DAY: Final = "extract(DAYOFWEEK_ISO FROM :a)"
_ISO_WEEK: Final = "lpad(CAST(weekofyear(:a) AS STRING), 2, '0')"
_ISO_YEAR: Final = "CAST(extract(YEAROFWEEK FROM :a) AS STRING)"
_SIGNS: Final[Mapping[str, Mapping[str, str]]] = {
    "bigquery": {
        "%-d": "lpad(CAST(day(:a) AS STRING), 2, ' ')",  # %e, as sqlglot reads it
        "%s": "CAST(unix_seconds(CAST(:a AS TIMESTAMP)) AS STRING)",
    },
    "duckdb": {},
    "trino": {"%v": _ISO_WEEK},
}
_COMMON_SIGNS: Final = {
    "%G": _ISO_YEAR,
    "%V": _ISO_WEEK,
    "%u": f"CAST({_ISO_DAY} AS STRING)",
    "%w": "CAST(dayofweek(:a) - 1 AS STRING)",
    "%U": "lpad(CAST((dayofyear(:a) + 7 - dayofweek(:a)) div 7 AS STRING), 2, '0')",
    "%W": f"lpad(CAST((dayofyear(:a) + 7 - {_ISO_DAY}) div 7 AS STRING), 2, '0')",
}
_NUMBER: Final = re.compile(r"(FM)?([09]+|[09]{1,3}(?:,[09]{3})+)(?:\.([09]+))?", re.IGNORECASE)
_SIGN: Final = re.compile(r"%(?:E[0-9*]S|Ez|-?.)", re.DOTALL)


def _names(word: str, spark: str, width: int) -> dict[str, str]:
    """Names of days or months in three cases; FM is without the blanks behind."""
    plain = f"date_format(:a, '{spark}')"
    cases = {word: plain, word.upper(): f"upper({plain})", word.lower(): f"lower({plain})"}
    padded = {name: f"rpad({text}, {width}, ' ')" if width else text for name, text in cases.items()}
    return {**padded, **{f"FM{name}": text for name, text in cases.items()}}


_WORDS: Final[Mapping[str, str]] = {
    **_names("Day", "EEEE", 9),
    **_names("Month", "MMMM", 9),
    **_names("Dy", "EEE", 0),
    **_names("Mon", "MMM", 0),
    **dict.fromkeys(("am", "pm"), "lower(date_format(:a, 'a'))"),
    "IYYY": _ISO_YEAR,
    "IW": _ISO_WEEK,
    "ID": f"CAST({_ISO_DAY} AS STRING)",
    "D": "CAST(dayofweek(:a) AS STRING)",
    "WW": "lpad(CAST((dayofyear(:a) + 6) div 7 AS STRING), 2, '0')",
    "W": "CAST((day(:a) + 6) div 7 AS STRING)",
    "FMMM": "CAST(month(:a) AS STRING)",
    "FMDD": "CAST(day(:a) AS STRING)",
}
_LEFT_TO_SPARK: Final = ("IDDD", "iddd", "FMDDD", "DDD", "DD", "Mon")
_WORD: Final = re.compile(
    "|".join(['"[^"]*"', *sorted({*_WORDS, *_LEFT_TO_SPARK, "iyyy", "iw", "id", "ddd", "dd", "d", "ww", "w"},
                                 key=len, reverse=True)])
)  # fmt: skip


def text_of_time(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The text of a time by a pattern with such parts; None for another pattern. node: a TimeToStr."""
    pattern = node.args.get("format")
    if dialect in _SIGNS and isinstance(pattern, exp.Literal):
        known: Mapping[str, str] = {**_COMMON_SIGNS, **_SIGNS[dialect]}
        return _joined(node, _parts(pattern.name, _SIGN, known, dialect), dialect)
    written = node.meta.get("pattern")
    return None if written is None else _joined(node, _parts(written, _WORD, _any_case(_WORDS), dialect), dialect)


def _any_case(words: Mapping[str, str]) -> dict[str, str]:
    numbers = {one.lower(): text for one, text in words.items() if one.isupper() and len(one) < len("MONTH")}
    return {**numbers, **{one: text for one, text in words.items() if one not in _LEFT_TO_SPARK}}


def _literal(piece: str, dialect: str) -> str | None:
    """A literal piece that sqlglot would take for a part of a time, as a literal of Spark's: %%, and "Day"."""
    if dialect in _SIGNS:
        return "'%'" if piece == "%%" else None
    text = exp.Literal.string(piece[1:-1])
    read = Dialect.get_or_raise(dialect).format_time(text) if piece.startswith('"') else None
    return text.sql("spark") if read is not None and read.name != text.name else None


def _parts(pattern: str, part: re.Pattern[str], known: Mapping[str, str], dialect: str) -> list[tuple[str, str | None]]:
    """Pieces of a pattern, with the texts of those that are computed."""
    made: list[tuple[str, str | None]] = []
    position, plain = 0, ""
    for found in part.finditer(pattern):
        plain += pattern[position : found.start()]
        position = found.end()
        text = _literal(found[0], dialect) or known.get(found[0])
        if text is None:
            plain += found[0]
            continue
        made += [(plain, None), (found[0], text)]
        plain = ""
    return [one for one in [*made, (plain + pattern[position:], None)] if one[0]]


def _joined(node: exp.Expr, parts: list[tuple[str, str | None]], dialect: str) -> exp.Expr | None:
    if all(text is None for _, text in parts):
        return None
    made = [_by_pattern(node.this, piece, dialect) if text is None else filled(text, [node.this])
            for piece, text in parts]  # fmt: skip
    return made[0] if len(made) == 1 else exp.Anonymous(this="CONCAT", expressions=made)


def _by_pattern(time: exp.Expr, piece: str, dialect: str) -> exp.Expr:
    if not any(one.isalnum() for one in piece):
        return exp.Literal.string(piece if dialect in _SIGNS else piece.replace('"', ""))
    pattern: exp.Expr = exp.Literal.string(piece)
    literal = "%" not in piece
    if dialect not in _SIGNS:
        literal = piece.startswith('"') and piece.endswith('"') and piece.count('"') == len('""')
        pattern = Dialect.get_or_raise(dialect).format_time(pattern) or pattern
        piece = piece.strip('"') if literal else piece
    return exp.Literal.string(piece) if literal else exp.TimeToStr(this=time.copy(), format=pattern)


def text_of_number(number: exp.Expr, pattern: str) -> exp.Expr | None:
    """Postgres' TO_CHAR of a number by a pattern of digits, groups of three and a point; None for another pattern.

    A number with more digits has # instead of each. Without FM, blanks are in front, one of them for the sign.
    """
    found = _NUMBER.fullmatch(pattern)
    if found is None or (found[1] and found[3] and "9" in found[3]):  # FM leaves zeros at the end out, but no point
        return None
    whole, decimals = found[2], len(found[3] or "")
    head, zero, tail = whole.partition("0")
    java = f"{head.replace('9', '#')}{zero}{tail.replace('9', '0')}" + ("." + "0" * decimals if decimals else "")
    full = re.sub("[09]", "#", whole) + ("." + "#" * decimals if decimals else "")
    digits = len(whole.replace(",", ""))
    rounded = f"round(:a, {decimals})"
    text = (
        f"if(abs({rounded}) >= 1{'0' * digits}, concat(if(:a < 0, '-', ''), '{full}'), "
        f"format_number({rounded}, '{java}'))"
    )
    return filled(text if found[1] else f"lpad({text}, {len(full) + 1}, ' ')", [number])
