"""The clauses of a statement on rows: which one applies to each row, and the values that it gives.

A clause applies to the rows for which its condition is true, and to which no clause before it applies; its values are
computed for no other row. Invariant: the answer is Spark's, or there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.expressions.arrow_expressions import condition, operand_of
from tablestore_engine.schema.expressions.assigned_values import assigned
from tablestore_engine.schema.expressions.common_types import Found, UncertainError
from tablestore_engine.schema.expressions.expression import Call, ColumnValue, Expression
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import DataField

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clause:
    """A clause: its condition, None for one that always holds, and the values of columns.

    `same`: columns whose values must be those that another column of the row has; else Spark says what is wrong.
    """

    condition: Expression | None
    values: Mapping[str, Expression]
    same: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeenRows:
    """The rows that clauses see: their columns and their number; `taken` returns some columns at some positions."""

    fields: tuple[DataField, ...]
    size: int
    taken: Callable[[Sequence[str], Longs], pa.Table]


@dataclass(frozen=True)
class _Value:
    """How the values of a column are computed, from the columns `names`."""

    names: tuple[str, ...]
    of: Callable[[pa.Table], Found]


def applied(
    clauses: Sequence[Clause], columns: Sequence[DataField], seen: SeenRows
) -> list[tuple[Longs, pa.Table]] | None:
    """For each clause the positions of its rows, and the values of those `columns` that it gives; None where only Spark
    knows them."""
    tests = [None if one.condition is None else condition(one.condition, seen.fields) for one in clauses]
    if any(test is None and one.condition is not None for test, one in zip(tests, clauses, strict=True)):
        return None
    try:
        values = [_values(one, columns, seen) for one in clauses]
    except (UncertainError, RecursionError):
        return None
    waiting, found = np.arange(seen.size), []
    for clause, test, given in zip(clauses, tests, values, strict=True):
        chosen = waiting
        if clause.condition is not None and test is not None:
            holds = _holds(test(seen.taken(_names(clause.condition), waiting)), len(waiting))
            if holds is None:
                return None
            chosen, waiting = waiting[holds], waiting[~holds]
        else:
            waiting = waiting[:0]
        table = _computed(clause, given, seen, chosen)
        if table is None:
            return None
        found.append((chosen, table))
    return found


def _values(clause: Clause, columns: Sequence[DataField], seen: SeenRows) -> dict[str, _Value]:
    fields = {one.name: one for one in seen.fields}
    return {one.name: _value(clause.values[one.name], one, fields) for one in columns if one.name in clause.values}


def _value(expression: Expression, column: DataField, fields: Mapping[str, DataField]) -> _Value:
    if isinstance(expression, ColumnValue):
        name = expression.name
        if fields[name].type.as_nullable(True) == column.type.as_nullable(True):
            target = to_arrow_type(column.type)
            return _Value((name,), lambda rows: Found(rows.column(name).cast(target)))
    return _Value(_names(expression), assigned(operand_of(expression, fields), column.type))


def _names(expression: Expression) -> tuple[str, ...]:
    """The columns of an expression."""
    return tuple(dict.fromkeys(_columns(expression)))


def _columns(expression: Expression) -> Iterator[str]:
    if isinstance(expression, ColumnValue):
        yield expression.name
    elif isinstance(expression, Call):
        for one in expression.arguments:
            yield from _columns(one)


def _holds(found: Found, count: int) -> npt.NDArray[np.bool_] | None:
    """For which rows a condition is true; None where only Spark knows it."""
    if _is_unknown(found):
        return None
    if isinstance(found.values, pa.Scalar):
        return np.full(count, bool(found.values.as_py()))
    holds: npt.NDArray[np.bool_] = pc.fill_null(found.values, False).to_numpy(zero_copy_only=False)
    return holds


def _is_unknown(found: Found) -> bool:
    unknown = found.unknown
    if isinstance(unknown, pa.Scalar):
        return unknown.as_py() is not False
    return unknown is not None and bool(pc.any(pc.fill_null(unknown, True)).as_py())


def _computed(clause: Clause, values: Mapping[str, _Value], seen: SeenRows, chosen: Longs) -> pa.Table | None:
    """The values of a clause for some rows."""
    needed = dict.fromkeys(name for one in values.values() for name in one.names)
    rows = seen.taken([*needed, *(name for name in clause.same.values() if name not in needed)], chosen)
    columns = {}
    for name, value in values.items():
        found = value.of(rows)
        if len(chosen) and _is_unknown(found):
            return None
        columns[name] = _whole(found.values, len(chosen))
    for name, other in clause.same.items():
        if not columns[name].equals(rows.column(other)):
            return None
    return pa.table(columns) if columns else rows.select([])


def _whole(values: pa.Array | pa.ChunkedArray | pa.Scalar, count: int) -> pa.ChunkedArray:
    if isinstance(values, pa.Scalar):
        values = pa.repeat(values, count)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
