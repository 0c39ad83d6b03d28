"""Which rows of an old run have a key that newer runs hold too, as SQL.

Two forms. A join on the keys of the newer runs is right for any number of them. When a query's predicate leaves only
a few of those keys, they are read here and become constants, and the query needs no join.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

import pyarrow as pa

from tablestore_engine.operation.prune import Bounds
from tablestore_engine.operation.scan import FileBounds
from tablestore_engine.schema.types import INTEGER_ROOTS, AtomicType, DataField
from tablestore_engine.spark.names import formatted

BROADCAST_ROWS = 2_000_000
_MAX_CONSTANTS = 50
_BYTES = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "BIGINT": 8}
_PACKED = "__key"


class ChangedKeys(Protocol):
    """The keys of the newer runs. Queries are texts for `SparkSession.sql` with ``{bottom}`` and ``{upper}``."""

    def without(self, columns: str, where: str) -> str:
        """Query for the rows of ``{bottom}`` with a condition whose key the newer runs do not hold."""

    def only(self, columns: str) -> str:
        """Query for the rows of ``{bottom}`` whose key the newer runs hold."""


@dataclass(frozen=True)
class ConstantKeys:
    """A few keys, written into the query."""

    condition: str

    def without(self, columns: str, where: str) -> str:
        """See `ChangedKeys`."""
        return f"SELECT {columns} FROM {{bottom}} b WHERE NOT ({self.condition}) AND {where}"

    def only(self, columns: str) -> str:
        """See `ChangedKeys`."""
        return f"SELECT {columns} FROM {{bottom}} b WHERE ({self.condition})"


@dataclass(frozen=True)
class JoinedKeys:
    """A join. `keys` give SQL expressions on an alias; they are equal exactly when the keys are."""

    keys: tuple[Callable[[str], str], ...]
    distinct: bool
    broadcast: bool

    def without(self, columns: str, where: str) -> str:
        """See `ChangedKeys`."""
        return f"{self._join('ANTI', columns)} WHERE {where}"

    def only(self, columns: str) -> str:
        """See `ChangedKeys`."""
        return self._join("SEMI", columns)

    def _join(self, kind: str, columns: str) -> str:
        names = [f"{_PACKED}{i}" for i in range(len(self.keys))]
        selected = ", ".join(f"{key('u')} AS {name}" for key, name in zip(self.keys, names, strict=True))
        changed = f"SELECT {'DISTINCT ' if self.distinct else ''}{selected} FROM {{upper}} u"
        on = " AND ".join(f"{key('b')} = c.{name}" for key, name in zip(self.keys, names, strict=True))
        hint = "/*+ BROADCAST(c) */ " if self.broadcast else ""
        return f"SELECT {hint}{columns} FROM {{bottom}} b LEFT {kind} JOIN ({changed}) c ON {on}"


def constant_keys(keys: pa.Table) -> ConstantKeys | None:
    """The keys (one column per key column) as constants; None when they are many or no constants."""
    if not 0 < keys.num_rows <= _MAX_CONSTANTS:
        return None
    try:
        rows = keys.to_pylist()
    except (OverflowError, ValueError):
        return None  # a date beyond what Python knows
    conditions = []
    for row in rows:
        texts = {name: _constant(value) for name, value in row.items()}
        if None in texts.values():
            return None
        conditions.append(" AND ".join(f"b.{formatted(name)} = {text}" for name, text in texts.items()))
    return ConstantKeys(" OR ".join(f"({one})" for one in conditions))


def _constant(value: Any) -> str | None:
    # Only what means the same value whatever the session's settings are.
    if isinstance(value, str):
        return f"cast(X'{value.encode().hex()}' as string)"
    if isinstance(value, date) and not isinstance(value, datetime):
        return f"DATE'{value.isoformat()}'"
    if isinstance(value, int) and not isinstance(value, bool) and value != -(2**63):
        return f"{value}L"
    return None


def join_keys(fields: Sequence[DataField], bounds: Iterable[FileBounds]) -> tuple[Callable[[str], str], ...]:
    """The key columns as join keys: one BIGINT where the files' statistics say that all keys fit into it.

    Spark looks up one long several times faster than a row of several columns.
    """
    names = [formatted(f.name) for f in fields]
    plain = tuple(_column(name) for name in names)
    if len(fields) < 2 or not all(_is_integer(f) for f in fields):
        return plain
    if sum(_BYTES[str(getattr(f.type, "root", ""))] for f in fields) <= _BYTES["BIGINT"]:
        return plain  # Spark packs these by itself
    ranges = _ranges(fields, bounds)
    if ranges is None or any(abs(bound) >= 2**62 for one in ranges for bound in one):
        return plain
    widths = [high - low + 1 for low, high in ranges]
    if math.prod(widths) >= 2**62:
        return plain

    def packed(alias: str) -> str:
        text = "0L"
        for name, (low, _), width in zip(names, ranges, widths, strict=True):
            text = f"({text} * {width}L + (cast({alias}.{name} as bigint) - {low}L))"
        return text

    return (packed,)


def _column(name: str) -> Callable[[str], str]:
    return lambda alias: f"{alias}.{name}"


def _ranges(fields: Sequence[DataField], bounds: Iterable[FileBounds]) -> list[tuple[int, int]] | None:
    columns: list[list[Bounds]] = [[] for _ in fields]
    for one in bounds:
        known = one.of(None)
        for field, column in zip(fields, columns, strict=True):
            found = known(field.name)
            if (
                found is None
                or not isinstance(found[1].minimum, int)
                or not isinstance(found[1].maximum, int)
            ):
                return None
            column.append(found[1])
    return [(min(b.minimum for b in column), max(b.maximum for b in column)) for column in columns]


def _is_integer(field: DataField) -> bool:
    return isinstance(field.type, AtomicType) and field.type.root in INTEGER_ROOTS
