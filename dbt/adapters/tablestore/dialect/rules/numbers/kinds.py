"""Kinds of numbers: an integer of at most 32 bits, one of more, what may have a fraction, and of that what is surely a
DOUBLE.

A kind is that of the type in the dialect, which is not always the type in Spark: in Postgres, `floor(5)` and
`extract(year from d)` may have fractions, and so may a sum of integers of 64 bits. Columns carry their kind as a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sqlglot import exp

INT: Final = "int"
BIGINT: Final = "bigint"
FRACTION: Final = "fraction"
DOUBLE: Final = "double"
MARK: Final = "number_kind"
"""The key of a kind in what sqlglot keeps with a node (`meta`)."""
NOT_KNOWN: Final = ""
"""The mark of a value whose kind its text does not show, though it looks so."""

_MOST_OF_INT: Final = 2**31 - 1
_MOST_OF_BIGINT: Final = 2**63 - 1
_NARROW: Final = ("tinyint", "smallint", "mediumint", "int")
_WIDE_SUMS: Final = ("postgres", "redshift")
"""Dialects in which a sum of integers of 64 bits is a decimal."""
_OF_OPERANDS: Final = (
    exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor,
)  # fmt: skip
_OF_FIRST: Final = (
    exp.Neg, exp.Abs, exp.Min, exp.Max, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Lag, exp.Lead, exp.FirstValue,
    exp.LastValue, exp.NthValue, exp.IgnoreNulls, exp.RespectNulls, exp.Window, exp.Filter, exp.Nullif, exp.BitwiseNot,
    exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.Alias,
)  # fmt: skip
_ROUNDED: Final = (exp.Floor, exp.Ceil, exp.Round, exp.Trunc, exp.Sign)
_COUNTS: Final = (exp.Count, exp.CountIf, exp.RowNumber, exp.Rank, exp.DenseRank, exp.ApproxDistinct)
_DIFFERENCES: Final = (exp.DateDiff, exp.TsOrDsDiff)
_SMALL: Final = (
    exp.Length, exp.StrPosition, exp.ArraySize, exp.Ntile, exp.Ascii, exp.WidthBucket, exp.Year, exp.Quarter,
    exp.Month, exp.Week, exp.Day, exp.DayOfWeek, exp.DayOfWeekIso, exp.DayOfYear, exp.Hour, exp.Minute, exp.Second,
)  # fmt: skip
_SMALL_BY_NAME: Final = frozenset(["DATEDIFF", "SIZE", "DAYOFWEEK", "CARDINALITY", "OCTET_LENGTH"])
_COUNTS_BY_NAME: Final = frozenset(["TIMESTAMPDIFF", "UNIX_SECONDS", "UNIX_MILLIS"])
_DOUBLES: Final = (
    exp.Sqrt, exp.Cbrt, exp.Exp, exp.Ln, exp.Log, exp.Pow, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance,
    exp.VariancePop, exp.Rand, exp.PercentileCont,
)  # fmt: skip


def has_fraction(kinds: Iterable[str | None]) -> bool:
    """Whether one of some kinds is that of fractions."""
    return not {FRACTION, DOUBLE}.isdisjoint(kinds)


def is_integer(node: exp.Expr) -> bool:
    """Whether a value is surely a whole number."""
    return kind_of(node) in (INT, BIGINT)


def kind_of(node: exp.Expr, dialect: str = "") -> str | None:
    """The kind of a number in a dialect; without one, whether its values may have fractions. None: not known."""
    node = node.unnest()
    if (marked := node.meta.get(MARK)) is not None:
        return str(marked) or None
    if isinstance(node, exp.Literal):
        return None if node.is_string else _of_literal(node)
    if isinstance(node, exp.Cast):
        return kind_of_type(node.to)
    if isinstance(node, (*_OF_OPERANDS, exp.Div, exp.IntDiv)):
        return _of_operands(node, dialect)
    if isinstance(node, _OF_FIRST):
        return kind_of(node.this, dialect)
    return _of_function(node, dialect)


def kind_of_type(kind: exp.Expr) -> str | None:
    if kind.is_type(*exp.DataType.INTEGER_TYPES):
        return INT if kind.is_type(*_NARROW) else BIGINT
    if kind.is_type("double"):
        return DOUBLE
    return FRACTION if kind.is_type(*exp.DataType.REAL_TYPES) else None


def kind_of_column(of: str) -> str | None:
    """The kind of a column by the text of its type in Spark."""
    if of in ("tinyint", "smallint", "int"):
        return INT
    if of in (BIGINT, DOUBLE):
        return of
    return FRACTION if of.startswith(("decimal", "float")) else None


def united(kinds: Iterable[str | None]) -> str | None:
    """The kind of values of several kinds: a number and a fraction are a fraction, also where the number's kind is not
    known; so it is with a DOUBLE."""
    found = set(kinds)
    if has_fraction(found):
        return DOUBLE if DOUBLE in found else FRACTION
    return None if None in found or not found else BIGINT if BIGINT in found else INT


def _of_literal(node: exp.Literal) -> str:
    if not node.is_int or abs(int(node.name)) > _MOST_OF_BIGINT:
        return DOUBLE if "e" in node.name.lower() else FRACTION
    return INT if abs(int(node.name)) <= _MOST_OF_INT else BIGINT


def _of_operands(node: exp.Expr, dialect: str) -> str | None:
    kind = united(kind_of(one, dialect) for one in (node.this, node.expression))
    if isinstance(node, exp.IntDiv):
        return kind or BIGINT
    if isinstance(node, exp.Div) and not node.args.get("typed"):
        return DOUBLE if dialect == "duckdb" else FRACTION
    return kind


def _of_function(node: exp.Expr, dialect: str) -> str | None:
    if isinstance(node, exp.Sum):
        return _of_sum(node, dialect)
    if isinstance(node, (exp.Case, exp.If, exp.Coalesce, exp.Greatest, exp.Least)):
        given = [one for one in _branches(node) if not isinstance(one, exp.Null)]
        return united(kind_of(one, dialect) for one in given)
    if isinstance(node, (exp.Subquery, exp.Select)):
        first = node.this if isinstance(node, exp.Subquery) else next(iter(node.expressions), None)
        return None if first is None else kind_of(first, dialect)
    if isinstance(node, _ROUNDED):
        return _of_rounded(node, dialect)
    if isinstance(node, exp.Extract):
        if dialect == "postgres":
            return FRACTION
        return None if node.name.upper() == "SECOND" else BIGINT
    if isinstance(node, _DOUBLES):
        return DOUBLE
    if isinstance(node, exp.Avg) and dialect != "redshift":
        return _of_average(node, dialect)
    name = node.name.upper() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, _SMALL) or name in _SMALL_BY_NAME:
        return INT
    counts = isinstance(node, (*_COUNTS, *_DIFFERENCES)) or name in _COUNTS_BY_NAME
    return BIGINT if counts else None


def _of_sum(node: exp.Sum, dialect: str) -> str | None:
    kind = kind_of(value_of(node), dialect)
    return FRACTION if kind == BIGINT and dialect in _WIDE_SUMS else BIGINT if kind == INT else kind


def _of_rounded(node: exp.Expr, dialect: str) -> str | None:
    """FLOOR and such of a DOUBLE is an integer in Spark, where the warehouse has a whole DOUBLE."""
    kind = kind_of(node.this, dialect)
    if dialect == "postgres" or (kind == DOUBLE and not isinstance(node, exp.Round)):
        return FRACTION
    return kind


def _of_average(node: exp.Avg, dialect: str) -> str:
    if dialect == "duckdb":
        return DOUBLE
    return DOUBLE if kind_of(value_of(node), dialect) in (INT, BIGINT, DOUBLE) and dialect == "trino" else FRACTION


def value_of(aggregate: exp.Expr) -> exp.Expr:
    """The value that an aggregate is of, also of a distinct one."""
    inner: exp.Expr = aggregate.this
    return inner.expressions[0] if isinstance(inner, exp.Distinct) else inner


def _branches(node: exp.Expr) -> Iterator[exp.Expr]:
    """The values of which one is that of the whole."""
    if isinstance(node, exp.Case):
        yield from (one.args["true"] for one in node.args["ifs"])
        yield from [node.args["default"]] if node.args.get("default") is not None else []
    elif isinstance(node, exp.If):
        yield from (one for one in (node.args["true"], node.args.get("false")) if one is not None)
    else:
        yield from (node.this, *node.expressions)
