"""Constants of SQL text as Python values, for the spellings whose meaning does not depend on the session.

Only certain values are translated. A string with a backslash, a doubled quote or a variable `${…}` (all of them depend
on Spark's configuration), an expression, or a date in a lenient spelling is not a constant here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from typing import Final

from tablestore_engine.schema.table.predicate import Constant
from tablestore_engine.sql.tokens.lexer import NUMBER, STRING, Token, tokenize

_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TIMESTAMP: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?(Z|[+-]\d{2}:\d{2})?"
)
_TIMESTAMP_TYPES: Final = frozenset(["TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"])
_MOST_LEVELS: Final = 100
_RANDOM: Final = ("RAND", "RANDOM", "RANDN", "RANDSTR", "UNIFORM", "UUID", "SHUFFLE")
_INTEGER_TYPES: Final = frozenset(["TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "LONG"])


def constant_at(tokens: list[Token], i: int, levels: int = _MOST_LEVELS) -> tuple[Constant, int] | None:
    """The constant that starts at token ``i`` and the index after it; None when no constant is certain.

    A cast by ``::`` is part of the constant. One inside of more than ``levels`` parentheses and casts is not certain.
    """
    found = _constant(tokens, i, levels) if levels else None
    if found is None or tokens[found[1]].key != "::":
        return found
    value, end = found
    converted = convert(value, tokens[end + 1].key)
    if converted is None or tokens[end + 2].key in ("(", "::"):
        return None
    return converted, end + 2


def _constant(tokens: list[Token], i: int, levels: int) -> tuple[Constant, int] | None:
    token = tokens[i]
    if token.kind == NUMBER:
        number = number_value(token.text)
        return None if number is None else (number, i + 1)
    if token.kind == STRING:
        text = plain_string(token)
        return None if text is None or tokens[i + 1].kind == STRING else (text, i + 1)
    key, after = token.key, tokens[i + 1] if i + 1 < len(tokens) else token
    if key in ("-", "+") and after.kind == NUMBER:
        number = number_value(after.text)
        return None if number is None else (_negated(number) if key == "-" else number, i + 2)
    if key in ("TRUE", "FALSE"):
        return (key == "TRUE", i + 1)
    if key == "(":
        inside = constant_at(tokens, i + 1, levels - 1)
        return (inside[0], inside[1] + 1) if inside and tokens[inside[1]].key == ")" else None
    if (key == "DATE" or key in _TIMESTAMP_TYPES) and after.kind == STRING:
        value = convert(plain_string(after), key)
        return None if value is None else (value, i + 2)
    if key in ("DATE", "TO_DATE") and after.key == "(" and tokens[i + 2].kind == STRING:
        value = convert(plain_string(tokens[i + 2]), "DATE")
        return (value, i + 4) if value is not None and tokens[i + 3].key == ")" else None
    if key == "CAST" and after.key == "(":
        inside = constant_at(tokens, i + 2, levels - 1)
        if inside is None or tokens[inside[1]].key != "AS" or tokens[inside[1] + 2].key != ")":
            return None
        value = convert(inside[0], tokens[inside[1] + 1].key)
        return None if value is None else (value, inside[1] + 3)
    return None


def convert(value: Constant | None, type_name: str) -> Constant | None:
    """CAST of a constant, for the few casts that depend on no setting; None for the others."""
    if isinstance(value, str):
        if type_name == "DATE":
            return _parse_date(value)
        if type_name in _TIMESTAMP_TYPES:
            return _parse_timestamp(value, type_name)
        return value if type_name == "STRING" else None
    if isinstance(value, int) and not isinstance(value, bool) and type_name in _INTEGER_TYPES:
        return value if -(2**7) <= value < 2**7 or (type_name in ("BIGINT", "LONG") and abs(value) < 2**63) else None
    if type(value) is date and type_name == "DATE":
        return value
    return None


def plain_string(token: Token) -> str | None:
    """The value of a string token without escapes and variables; None when it has any, or is not in single quotes (a
    setting of Spark makes double quotes enclose names)."""
    text = token.text
    if text[0] in '$"' or text[:2].lower() == 'r"':
        return None
    body = text[2:-1] if text[0] in "rR" else text[1:-1]
    if "${" in body or (text[0] not in "rR" and ("\\" in body or text[0] in body)):
        return None
    return body


def number_value(text: str) -> int | Decimal | float | None:
    """The value of a number token, in the type that Spark gives it: int, Decimal or float."""
    body = text.rstrip("lLsSyYdDfFbB")
    suffix = text[len(body) :].upper()
    if suffix in ("L", "S", "Y"):
        return int(body)
    if suffix in ("D", "F"):
        return None if suffix == "F" else float(body)
    if suffix == "BD":
        return Decimal(body)
    if "e" in body or "E" in body:
        return float(body)
    return Decimal(body) if "." in body else int(body)


def _negated(number: int | Decimal | float) -> int | Decimal | float:
    """Exactly: a minus sign rounds a Decimal to 28 digits."""
    return number.copy_negate() if isinstance(number, Decimal) and number else -number


def _parse_date(text: str) -> date | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return date(*(int(part) for part in found.groups()))
    except ValueError:
        return None


def _parse_timestamp(text: str, type_name: str) -> datetime | None:
    found = _TIMESTAMP.fullmatch(text.strip())
    if found is None:
        return None
    *numbers, fraction, zone = found.groups()
    if zone is not None and type_name == "TIMESTAMP_NTZ":
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in numbers)
    micros = int((fraction or "").ljust(6, "0"))
    try:
        return datetime(year, month, day, hour, minute, second, micros, _parse_zone(zone))
    except ValueError:
        return None


def _parse_zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text == "Z":
        return timezone.utc
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[4:6]))
    return timezone(-offset if text[0] == "-" else offset)


def is_random(sql: str) -> bool:
    """Whether a value may be another one each time it is evaluated: it calls a function for random values. One with a
    query is taken for a fixed one, because Spark takes no query in the function that evaluates a value once."""
    tokens = tokenize(sql)
    return random_call(tokens) is not None and all(one.key != "SELECT" for one in tokens)


def random_call(tokens: Sequence[Token]) -> Token | None:
    """The name of the first function for random values that is called; None without one."""
    return next((one for one, after in pairwise(tokens) if after.key == "(" and one.key in _RANDOM), None)
