"""Trino's TRY(…) and BigQuery's SAFE.f(…), which are null where something fails.

In TRY, that is anything in it: each part that may fail is null then, and a part of which an operand is null must be
null, too. In SAFE.f(…), it is the function, but not its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.arrays import element_or_null
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled

NEVER_FAILS: Final = "never_fails"
"""The mark of parts that give a value of any numbers."""
# Operators that fail, with what is null then; and parts that never fail, and are null if an operand is.
_FAILING: Final[Mapping[type[exp.Expr], str]] = {
    exp.Div: "TRY_DIVIDE", exp.Mod: "TRY_MOD", exp.Add: "TRY_ADD", exp.Sub: "TRY_SUBTRACT", exp.Mul: "TRY_MULTIPLY",
}  # fmt: skip
_TRIED: Final[Mapping[str, str]] = {
    "TO_TIMESTAMP": "TRY_TO_TIMESTAMP", "TO_DATE": "TRY_TO_DATE", "URL_DECODE": "TRY_URL_DECODE",
}  # fmt: skip
_NEVER_FAILING: Final = frozenset(
    ["GET_JSON_OBJECT", "FROM_JSON", "SPLIT", "TRY_DIVIDE", "SUBSTRING", "TIMESTAMP_SECONDS", "TIMESTAMPDIFF",
     "DATEDIFF", "REGEXP_SUBSTR", "REGEXP_EXTRACT", "DATE_TRUNC", "TRUNC", "TRY_URL_DECODE"]
)  # fmt: skip
_MADE_OF_TEXTS: Final[Mapping[type[exp.Expr], str]] = {
    exp.Timestamp: "timestamp", exp.Date: "date", exp.Datetime: "timestamp", exp.TsOrDsToDatetime: "timestamp",
    exp.FromISO8601Timestamp: "timestamp", exp.TsOrDsToDate: "date",
}  # fmt: skip
# Functions that never fail in Spark; logarithms are null of what they have no value for.
_NEVER_SAFE: Final = (
    exp.Ln, exp.Log, exp.Upper, exp.Lower, exp.Concat, exp.Trim, exp.Length, exp.ArraySize,
    exp.JSONFormat, exp.JSONExtract, exp.JSONExtractScalar, exp.Coalesce, exp.RegexpLike, exp.Replace, exp.Split,
    exp.StartsWith, exp.EndsWith, exp.StrPosition, exp.DateTrunc, exp.TimestampTrunc, exp.LastDay, exp.Year,
)  # fmt: skip
_NEVER_SAFE_BY_NAME: Final = frozenset(
    ["LOG10", "LOG2", "TRUNC", "DATE_TRUNC", "TIMESTAMPDIFF", "DATEDIFF", "SIZE", "REGEXP_SUBSTR", "REGEXP_EXTRACT",
     "REGEXP_EXTRACT_ALL", "TO_JSON", "NEXT_DAY", "LAST_DAY", "UNIX_SECONDS", "UNIX_MILLIS", "UNIX_MICROS"]
)  # fmt: skip
_STRICT: Final = (
    exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Neg, exp.Null, exp.Boolean, exp.DataType, exp.DataTypeParam,
    exp.Dot, exp.Var, exp.Star, exp.Lower, exp.Upper, exp.Trim, exp.Length, exp.Abs, exp.Substring, exp.Replace,
    exp.Split, exp.RegexpReplace, exp.JSONExtract, exp.JSONExtractScalar, exp.Round, exp.Array, exp.UnixToTime,
    exp.JSONPath, exp.JSONPathPart, exp.RegexpLike,
)  # fmt: skip
_NOT_BY_ZERO: Final = "if(:b = 0, NULL, :a)"
# Errors of Python about texts that are patterns in no syntax.
_NO_PATTERN: Final = (
    "missing )", "unbalanced parenthesis", "unterminated character set", "nothing to repeat", "bad escape (end",
)  # fmt: skip


def _pattern_of(part: exp.Expr) -> exp.Expr | None:
    """The regular expression that a function takes."""
    pattern = part.expression if isinstance(part, (exp.RegexpLike, exp.RegexpReplace)) else None
    if isinstance(part, exp.Anonymous) and part.name.upper().startswith("REGEXP_"):
        pattern = part.expressions[1]
    if isinstance(part, exp.Anonymous) and part.name == "IF" and isinstance(part.expressions[0], exp.RegexpLike):
        pattern = part.expressions[0].expression
    return pattern


def _refuse_computed_pattern(part: exp.Expr) -> None:
    """A computed regular expression may be none, of which Spark's functions fail."""
    pattern = _pattern_of(part)
    if pattern is not None and pattern.find(exp.Column, exp.Identifier, exp.Query) is not None:
        raise Untranslatable("a computed regular expression in TRY or SAFE (write it as a literal)")


def _is_none(pattern: exp.Expr | None) -> bool:
    """Whether a constant is surely no regular expression."""
    if not isinstance(pattern, (exp.Literal, exp.RawString)):
        return False
    try:
        re.compile(pattern.name)
    except re.error as error:
        return error.msg.startswith(_NO_PATTERN)
    return False


def _try(node: exp.Expr, dialect: str) -> exp.Expr:
    """Trino's TRY(…), null where a part of it fails: each part that may fail is null then, and so is the whole."""
    whole = exp.paren(node.this.copy(), copy=False)
    kept = {id(one) for part in whole.find_all(exp.AggFunc, exp.If) for one in _never_failing(part)}
    for one in reversed(list(whole.dfs())):
        if one is not whole and id(one) not in kept:
            one.replace(failing_as_null(one))
    return whole if isinstance(whole.this, exp.Binary) else whole.this


def _never_failing(part: exp.Expr) -> list[exp.Expr]:
    """The nodes below an aggregate, and of the test of types in a quotient, which do not fail."""
    if isinstance(part, exp.AggFunc):
        if part.find(exp.Div, exp.IntDiv, exp.Mod, exp.Cast, exp.Bracket, exp.StrToTime, exp.StrToDate) is not None:
            raise Untranslatable("TRY of an aggregate of values that may fail (try these)")
        return list(part.walk())
    return list(part.this.walk()) if part.find(exp.Typeof) is not None else []


def failing_as_null(part: exp.Expr) -> exp.Expr:
    """A part of an expression that is null where it would fail. Its operands are such parts already."""
    _refuse_computed_pattern(part)
    if part.meta.get(NEVER_FAILS):
        return part
    if part.meta.get("json"):
        parsed = exp.Anonymous(this="TRY_PARSE_JSON", expressions=[part.copy()])
        return exp.Anonymous(this="NVL2", expressions=[parsed, part.copy(), exp.Null()])
    if isinstance(part, exp.If) and part.find(exp.Typeof) is not None:
        return part
    if isinstance(part, exp.Cast):
        return exp.TryCast(this=part.this.copy(), to=part.to.copy(), safe=True)
    if isinstance(part, exp.IntDiv):
        return filled(_NOT_BY_ZERO, [part.copy(), part.expression.copy()])
    if type(part) in _FAILING:
        return exp.Anonymous(this=_FAILING[type(part)], expressions=[part.this.copy(), part.expression.copy()])
    if isinstance(part, (exp.StrToTime, exp.StrToDate)):
        part.set("safe", True)
        return part
    kind = _MADE_OF_TEXTS.get(type(part))
    if kind is not None and sum(isinstance(one, exp.Expr) for one in part.args.values()) == 1:
        return exp.TryCast(this=part.this.copy(), to=exp.DataType.build(kind), safe=True)
    if isinstance(part, exp.Bracket) and len(part.expressions) == 1:
        return element_or_null(part.this.copy(), part.expressions[0].copy())
    if isinstance(part, exp.Anonymous):
        name = part.name.upper()
        if name in ("ELEMENT_AT", "TRY_ELEMENT_AT"):
            return element_or_null(*(one.copy() for one in part.expressions))
        if name in _TRIED:
            return exp.Anonymous(this=_TRIED[name], expressions=[one.copy() for one in part.expressions])
        found = name == "IF" and isinstance(part.expressions[0], exp.RegexpLike)  # a group of a pattern, or null
        if name in _NEVER_FAILING or found:
            return part
    if isinstance(part, _STRICT):
        return part
    raise Untranslatable("TRY of this function (write spark__try_divide and such where a part may fail)")


def _safe(node: exp.Expr, dialect: str) -> exp.Expr:
    """SAFE.f(…)."""
    inner = node.this
    _refuse_computed_pattern(inner)
    if _is_none(_pattern_of(inner)):
        return exp.null()
    kind = _MADE_OF_TEXTS.get(type(inner))
    if kind is not None and sum(isinstance(one, exp.Expr) for one in inner.args.values()) == 1:
        return exp.TryCast(this=inner.this.copy(), to=exp.DataType.build(kind), safe=True)
    name = inner.name.upper() if isinstance(inner, exp.Anonymous) else ""
    if isinstance(inner, _NEVER_SAFE) or name in _NEVER_SAFE_BY_NAME or name.startswith("TRY_"):
        return inner
    if isinstance(inner, exp.FromBase64):
        return exp.Anonymous(this="TRY_TO_BINARY", expressions=[inner.this, exp.Literal.string("base64")])
    operand = _failing_operand(inner)
    if operand is not None:
        test = _NOT_BY_ZERO if isinstance(inner, exp.IntDiv) else "if(:b < 0, NULL, :a)"
        return filled(test, [inner.copy(), operand])
    try:
        return failing_as_null(inner.copy())
    except Untranslatable:
        raise Untranslatable(f"SAFE.{_name_of(inner)}") from None


def _failing_operand(inner: exp.Expr) -> exp.Expr | None:
    """The operand that a function fails of where it is negative, or a zero to divide by."""
    if isinstance(inner, (exp.Left, exp.Right)):
        return inner.expression
    if isinstance(inner, exp.Substring):
        return inner.args.get("length") or exp.Literal.number(0)
    if isinstance(inner, exp.Anonymous):
        length = inner.expressions[2:] if inner.name.upper() == "SUBSTRING" else []
        return length[0] if length else None
    return inner.this if isinstance(inner, exp.Sqrt) else inner.expression if isinstance(inner, exp.IntDiv) else None


def _name_of(inner: exp.Expr) -> str:
    if isinstance(inner, exp.Anonymous):
        return inner.name.upper()
    return inner.sql_name() if isinstance(inner, exp.Func) else inner.key.upper()


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {exp.Try: _try, exp.SafeFunc: _safe}
