"""The clauses of a row-level operation on rows in memory, without a query: Arrow computes the changed rows.

The clauses are those of `merge_clauses`, in the same texts. Where one has a part whose value only Spark knows (a
function, a subquery, a cast, a setting of the session), or a row does, there is no answer, and Spark is asked for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import types as T

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.expressions.clauses import Clause, SeenRows, applied
from tablestore_engine.schema.expressions.expression import ColumnValue, Expression, Literal
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.names import Resolver
from tablestore_engine.schema.types.types import DataField, has_root
from tablestore_engine.spark.expressions.checked_cast import CheckedCast
from tablestore_engine.sql.row_level.clauses.merge_clauses import ClauseScope
from tablestore_engine.sql.row_level.clauses.named_side import (
    NamedSide,
    have_certain_names,
    numbered,
    numbered_fields,
    read_on,
)
from tablestore_engine.sql.tokens.lexer import tokenize

Longs = npt.NDArray[np.int64]
_PUT_KIND: Final = 0
_CHANGED: Final = ("CHAR", "TIME", "VARIANT")


@dataclass(frozen=True)
class HeldSide(NamedSide):
    """The rows of the target or the source."""

    rows: pa.Table


@dataclass(frozen=True)
class HeldScope:
    """The clauses of one kind, and the rows that they see: of each side, the positions of its rows; the target is the
    first one, if it is seen. `removing`: which clauses remove rows.

    `once`: a row is removed once, however many rows of the source match it.
    """

    scope: ClauseScope
    sides: tuple[tuple[HeldSide, Longs], ...]
    removing: tuple[bool, ...]
    once: bool = False

    @property
    def removes_all(self) -> bool:
        """Whether every row that the scope sees is removed."""
        return all(self.removing) and not any(self.scope.conditions)

    def changes(self, columns: Sequence[DataField], resolver: Resolver) -> list[pa.Table] | None:
        """The rows that each clause puts or removes, with their kind; None where only Spark knows them."""
        clauses = self._clauses(columns, resolver)
        found = None if clauses is None else applied(clauses, columns, self._seen)
        if found is None:
            return None
        changes = []
        for removes, (at, values) in zip(self.removing, found, strict=True):
            rows = self._removed(at, columns) if removes else values
            kind = pa.scalar(DELETE_KIND if removes else _PUT_KIND, pa.int8())
            changes.append(rows.append_column(ROW_KIND_COLUMN, pa.repeat(kind, rows.num_rows)))
        return changes

    def _removed(self, at: Longs, columns: Sequence[DataField]) -> pa.Table:
        side, positions = self.sides[0]
        chosen = np.unique(positions[at]) if self.once else positions[at]
        return side.rows.select([one.name for one in columns]).take(pa.array(chosen))

    @property
    def _seen(self) -> SeenRows:
        fields = numbered_fields([side for side, _ in self.sides])
        return SeenRows(fields, len(self.sides[0][1]), self._taken)

    def _taken(self, names: Sequence[str], at: Longs) -> pa.Table:
        found: dict[str, pa.ChunkedArray] = {}
        for number, (side, positions) in enumerate(self.sides):
            own = {numbered(number, one.name): one.name for one in side.fields}
            wanted = [name for name in names if name in own]
            rows = side.rows.select([own[name] for name in wanted]).take(pa.array(positions[at]))
            found |= dict(zip(wanted, rows.columns, strict=True))
        return pa.table([found[name] for name in names], names=list(names))

    def _clauses(self, columns: Sequence[DataField], resolver: Resolver) -> list[Clause] | None:
        if not have_certain_names([side for side, _ in self.sides]) or not (
            all(self.removing) or all(map(_is_the_same_to_spark, columns))
        ):
            return None
        found = []
        for removes, condition_sql, values in zip(self.removing, self.scope.conditions, self.scope.values, strict=True):
            condition = None if condition_sql is None else self._read(condition_sql, resolver)
            given = {} if removes else {one.name: self._read_value(values[one.name], resolver) for one in columns}
            known = {name: value for name, value in given.items() if value is not None}
            if len(known) < len(given) or (condition is None and condition_sql is not None):
                return None
            own = {name: numbered(0, name) for name in self.scope.keys if name in known}
            same = {name: other for name, other in own.items() if known[name] != ColumnValue(other)}
            found.append(Clause(condition, known, same))
        return found

    def _read_value(self, sql: str, resolver: Resolver) -> Expression | None:
        """A value; before a checked cast, unless it is a text: Arrow knows which numbers a column holds."""
        if _is_null(sql):
            return Literal(None, None)
        if isinstance(sql, CheckedCast) and not isinstance(sql.given, T.StringType):
            sql = sql.given_sql
        return self._read(sql, resolver)

    def _read(self, sql: str, resolver: Resolver) -> Expression | None:
        return read_on(sql, [side for side, _ in self.sides], resolver)


def held_changes(scopes: Sequence[HeldScope], columns: Sequence[DataField], resolver: Resolver) -> pa.Table | None:
    """The changed rows of all clauses as `columns` and `ROW_KIND_COLUMN`; None where only Spark knows them.

    `resolver` says which spellings of a name are one to the session.
    """
    shape = pa.schema([*((one.name, to_arrow_type(one.type)) for one in columns), (ROW_KIND_COLUMN, pa.int8())])
    found = [shape.empty_table()]
    for one in scopes:
        changes = one.changes(columns, resolver) if one.removing else []
        if changes is None:
            return None
        found += [table.select(shape.names).cast(shape) for table in changes]
    return pa.concat_tables(found)


def _is_null(sql: str) -> bool:
    """Whether a value is ``CAST(NULL AS type)``."""
    tokens = tokenize(sql)
    return [one.key for one in tokens[:4]] == ["CAST", "(", "NULL", "AS"] and tokens[1].partner == len(tokens) - 2


def _is_the_same_to_spark(column: DataField) -> bool:
    """Whether a value that Spark reads and passes on is the same as before: it fills texts, and cuts times."""
    return not has_root(column.type, _CHANGED) and "[ns" not in str(to_arrow_type(column.type))
