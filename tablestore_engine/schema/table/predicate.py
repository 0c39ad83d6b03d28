"""The assumptions of a scan about the rows that a query needs.

A *predicate* is a small tree over the columns of one table: comparisons with constants, joined by AND and
OR. Invariant: it is a *necessary* condition. A row for which the predicate is false or unknown (SQL's
NULL) cannot influence the answer, so leaving it out is allowed and never required. Column names are as
the user wrote them (`TableSchema.field` finds the column), and a name need not be a column of the table at all.

The constants carry the type that was written, not the column's. Code that evaluates a predicate must drop
a part (take it as "unknown, keep the row") when the column does not exist or when comparing its type with
that constant needs more than a lossless conversion: ``text_column = 5`` compares numbers in SQL. NaN is
greater than every number in Spark, while the statistics of a file leave it out; CHAR compares padded.

Constants: bool, int, Decimal, float, str, date, datetime. A datetime without a zone is wall-clock time in
the session's time zone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from tablestore_engine.schema.types.types import DataType

Constant = bool | int | Decimal | float | str | date | datetime

COMPARISONS: Final = ("=", "<", "<=", ">", ">=")
FLIPPED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator of a comparison whose sides are exchanged."""
OPPOSITES: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""The operator of a comparison that is true where another one is false."""


@dataclass(frozen=True)
class Compare:
    """``column op value``, with ``op`` one of ``=  <  <=  >  >=``. ``<=>`` with a constant is ``=``."""

    column: str
    op: str
    value: Constant


@dataclass(frozen=True)
class In:
    """``column IN (values)``; nulls in the list are left out, because they never make it true."""

    column: str
    values: tuple[Constant, ...]


@dataclass(frozen=True)
class IsNull:
    """``column IS NULL``."""

    column: str


@dataclass(frozen=True)
class IsNotNull:
    """``column IS NOT NULL``."""

    column: str


@dataclass(frozen=True)
class And:
    """All of the children hold."""

    children: tuple[Predicate, ...]


@dataclass(frozen=True)
class Or:
    """At least one of the children holds."""

    children: tuple[Predicate, ...]


@dataclass(frozen=True)
class OfCast:
    """A predicate on what a cast of its column to a type gives, before the column's own type is known. A scan takes it
    as unknown: `operation/scan/cast_columns.py`."""

    inner: Compare | In | IsNull | IsNotNull
    type: DataType

    @property
    def column(self) -> str:
        return self.inner.column


Predicate = Compare | In | IsNull | IsNotNull | And | Or | OfCast


def digits_of(number: int | Decimal) -> tuple[int, int]:
    """How many digits the type of a constant has before and after the point; of an integer at least as many as that."""
    if isinstance(number, int):
        return (10 if -(2**31) <= number < 2**31 else max(20, len(str(abs(number))))), 0
    _, digits, exponent = number.as_tuple()
    scale = -exponent if isinstance(exponent, int) else 0
    return max(len(digits) - scale, 0), max(scale, 0)


def conjunction(parts: tuple[Predicate, ...] | list[Predicate]) -> Predicate | None:
    """The AND of the parts, flattened and without repetitions; None for no parts at all."""
    return _join(And, parts)


def disjunction(parts: tuple[Predicate, ...] | list[Predicate]) -> Predicate | None:
    """The OR of the parts, flattened and without repetitions; None for no parts at all."""
    return _join(Or, parts)


def columns_of(predicate: Predicate) -> Iterator[str]:
    """The column names of a predicate, as written, in order, with repetitions."""
    if isinstance(predicate, (And, Or)):
        for child in predicate.children:
            yield from columns_of(child)
    else:
        yield predicate.column


def rejects_null(predicate: Predicate) -> bool:
    """Whether the predicate is never true on a row in which all of its columns are null."""
    if isinstance(predicate, And):
        return any(rejects_null(child) for child in predicate.children)
    if isinstance(predicate, Or):
        return all(rejects_null(child) for child in predicate.children)
    return rejects_null(predicate.inner) if isinstance(predicate, OfCast) else not isinstance(predicate, IsNull)


def fixes_a_column(predicate: Predicate | None, key: Callable[[str], str], apart_from: Collection[str] = ()) -> bool:
    """Whether the predicate gives one or a few constants to some column, other than those in `apart_from`. `key` is
    that of the table's names."""
    if isinstance(predicate, And):
        return any(fixes_a_column(child, key, apart_from) for child in predicate.children)
    if isinstance(predicate, Or):
        return all(fixes_a_column(child, key, apart_from) for child in predicate.children)
    if not isinstance(predicate, In) and not (isinstance(predicate, Compare) and predicate.op == "="):
        return False
    return key(predicate.column) not in {key(name) for name in apart_from}


def only_on(predicate: Predicate | None, columns: Collection[str], key: Callable[[str], str]) -> Predicate | None:
    """The part of a predicate on some columns alone; None when there is none. `key` is that of the table's names."""
    wanted = {key(name) for name in columns}
    if isinstance(predicate, And):
        return conjunction([one for one in (only_on(child, columns, key) for child in predicate.children) if one])
    if isinstance(predicate, Or):
        choices = [only_on(child, columns, key) for child in predicate.children]
        return None if None in choices else disjunction([one for one in choices if one])
    return predicate if predicate is not None and key(predicate.column) in wanted else None


def _join(kind: type[And | Or], parts: tuple[Predicate, ...] | list[Predicate]) -> Predicate | None:
    found: dict[str, Predicate] = {}  # by repr, which differs for 1, True and 1.0
    for part in parts:
        for piece in part.children if isinstance(part, (And, Or)) and isinstance(part, kind) else (part,):
            found.setdefault(repr(piece), piece)
    if len(found) > 1:
        return kind(tuple(found.values()))
    return next(iter(found.values()), None)
