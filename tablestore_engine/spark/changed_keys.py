"""Which rows of an old run have a key that newer runs hold too, as SQL.

A join on the keys of the newer runs is right for any number of them; how keys are joined depends on what is known of
them. When a query's predicate leaves only a few, they are read here and become constants, and the query needs no join.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

import pyarrow as pa

from tablestore_engine.spark.join_key import JoinKey
from tablestore_engine.spark.names import formatted

BROADCAST_ROWS = 2_000_000
_MAX_CONSTANTS = 50


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
    """A join."""

    key: JoinKey
    distinct: bool
    broadcast: bool

    def without(self, columns: str, where: str) -> str:
        """See `ChangedKeys`."""
        return f"{self._join('ANTI', columns)} WHERE {where}"

    def only(self, columns: str) -> str:
        """See `ChangedKeys`."""
        return self._join("SEMI", columns)

    def _join(self, kind: str, columns: str) -> str:
        equal = {f"__key{i}": one for i, one in enumerate(self.key.equal)}
        checks = {f"__check{i}": one for i, one in enumerate(self.key.checks)}
        selected = ", ".join(f"{one('u')} AS {name}" for name, one in (equal | checks).items())
        changed = f"SELECT {'DISTINCT ' if self.distinct else ''}{selected} FROM {{upper}} u"
        terms = [f"{one('b')} = c.{name}" for name, one in equal.items()]
        # Spark would make a plain equality part of the join's key.
        terms += [f"({one('b')} ^ c.{name}) = 0" for name, one in checks.items()]
        hint = "/*+ BROADCAST(c) */ " if self.broadcast else ""
        return f"SELECT {hint}{columns} FROM {{bottom}} b LEFT {kind} JOIN ({changed}) c ON {' AND '.join(terms)}"


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
