"""CHECK constraints on Arrow rows, without Spark, where a condition is a predicate that Arrow judges as Spark does.

A comparison in another type than the column's, or one that depends on a setting of the session, needs Spark: such a
table is refused. A predicate is a function from rows to a column that is true, false or null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce
from math import isfinite
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import ConstraintError, SchemaError
from tablestore_engine.operation.scan.key_lookup import certain_scalar
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.casts.cast_arrays import text_of
from tablestore_engine.schema.table.check_constraints import (
    VIOLATED,
    VIOLATED_HINT,
    CheckConstraint,
    check_constraints,
)
from tablestore_engine.schema.table.predicate import And, Constant, In, IsNotNull, IsNull, Or, Predicate
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType, DataField, DataType
from tablestore_engine.table_state import TableState

Judged = Callable[[pa.Table], pa.ChunkedArray]

_FLOATS: Final = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""Up to which all integers are values of the type."""
_MOST_SCALE: Final = 18  # of a decimal that Spark compares with any integer without rounding
_MICROS: Final = 6  # of Spark's timestamps
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TAKEN_BACK: Final = pa.array([UPDATE_BEFORE_KIND, DELETE_KIND], pa.int8())
_SHOWN: Final = 100  # characters of a value in a message
_COMPARED: Final = {
    "=": pc.equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip


class RowConditions:
    """The CHECK constraints of a table, for the rows that are written."""

    def __init__(self, state: TableState) -> None:
        """Raises SchemaError for a condition that only Spark evaluates."""
        self._schema = state.schema
        self._all = [(one, _judged(one, state)) for one in check_constraints(state.schema.options)]

    def check(self, rows: pa.Table) -> pa.Table:
        """The rows. Raises ConstraintError for one that violates a constraint and is not taken back."""
        for one, judged in self._all:
            wrong = pc.invert(judged(rows))
            if ROW_KIND_COLUMN in rows.column_names:
                wrong = pc.and_kleene(wrong, pc.invert(pc.is_in(rows.column(ROW_KIND_COLUMN), value_set=_TAKEN_BACK)))
            at = pc.index(wrong, pa.scalar(True)).as_py()
            if at >= 0:
                raise ConstraintError(_violation(one, self._schema, rows.slice(at, 1)), hint=VIOLATED_HINT)
        return rows


def _judged(check: CheckConstraint, state: TableState) -> Judged:
    read = state.read_condition
    predicate = None if read is None else read(check.sql, state.schema.field_names)
    judged = None if predicate is None else compiled(predicate, state.schema)
    if judged is None:
        raise SchemaError(
            f"'{state.name}' has the CHECK constraint {check.shown}, which only Spark evaluates.",
            hint="Write by SQL, or by TableStore.write, whose DataFrame can be spark.createDataFrame(arrow_table). "
            "Without Spark, a table of a TableStore compares columns with constants, by =, <, >, IN, BETWEEN and IS "
            "NULL, joined by AND, OR and NOT.",
        )
    return judged


def _violation(check: CheckConstraint, schema: TableSchema, row: pa.Table) -> str:
    shown = []
    for name in check.columns(schema.field_names):
        value = text_of(row.column(name).combine_chunks(), schema.field(name).type, "UTC")[0].as_py()
        shown.append(f"{name} = {'NULL' if value is None else value[:_SHOWN]}")
    return f"{VIOLATED}{check.shown}: {', '.join(shown)}."


def compiled(predicate: Predicate, schema: TableSchema) -> Judged | None:
    """A predicate, as Spark judges it; None when Arrow may judge a part of it in another way."""
    if isinstance(predicate, (And, Or)):
        parts = [one for one in (compiled(child, schema) for child in predicate.children) if one is not None]
        if len(parts) < len(predicate.children):
            return None
        join = pc.and_kleene if isinstance(predicate, And) else pc.or_kleene
        return lambda rows: reduce(join, (part(rows) for part in parts))
    field = schema.field(predicate.column)
    if isinstance(predicate, IsNull):
        return lambda rows: pc.is_null(rows.column(field.name))
    if isinstance(predicate, IsNotNull):
        return lambda rows: pc.is_valid(rows.column(field.name))
    constants = predicate.values if isinstance(predicate, In) else (predicate.value,)
    scalars = [one for one in (_scalar(value, field.type) for value in constants) if one is not None]
    if len(scalars) < len(constants):
        return None
    if isinstance(predicate, In):
        return lambda rows: _among(_values(rows, field), scalars)
    op = predicate.op
    return lambda rows: _compared(_values(rows, field), op, scalars[0])


def _scalar(value: Constant, kind: DataType) -> pa.Scalar | None:
    """A constant as one of the values of `_values`; None when Spark may compare it otherwise."""
    if not isinstance(kind, AtomicType):
        return None
    root = kind.root
    if root in _FLOATS:
        if isinstance(value, bool) or not isinstance(value, (int, Decimal, float)):
            return None
        certain = abs(value) <= _FLOATS[root] if isinstance(value, int) else isfinite(float(value))
        return pa.scalar(float(value), pa.float64()) if certain else None
    if not _compares_as(value, kind):
        return None
    found = certain_scalar(value, kind)
    return found.cast(pa.int8()) if found is not None and root == "BOOLEAN" else found


def _compares_as(value: Constant, kind: AtomicType) -> bool:
    """Whether Spark compares a constant as a value of the type, if it is one."""
    root = kind.root
    if root in INTEGER_ROOTS:
        return isinstance(value, int)
    if root == "DECIMAL":
        scale = kind.scale or 0
        if isinstance(value, Decimal):
            exponent = value.as_tuple().exponent
            return isinstance(exponent, int) and -exponent <= scale
        return scale <= _MOST_SCALE
    if root == "DATE":
        return not isinstance(value, str) or _DAY.fullmatch(value) is not None
    if root == "TIMESTAMP_LTZ":
        return (kind.precision or 0) <= _MICROS
    return root in ("STRING", "VARCHAR", "BOOLEAN")


def _values(rows: pa.Table, field: DataField) -> pa.ChunkedArray:
    """A column in the type that its constants have."""
    column = rows.column(field.name)
    if pa.types.is_float32(column.type):
        return column.cast(pa.float64())
    return column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column


def _compared(values: pa.ChunkedArray, op: str, scalar: pa.Scalar) -> pa.ChunkedArray:
    found = _COMPARED[op](values, scalar)
    # NaN is greater than every number.
    return pc.or_(found, pc.is_nan(values)) if op in (">", ">=") and pa.types.is_floating(values.type) else found


def _among(values: pa.ChunkedArray, scalars: Sequence[pa.Scalar]) -> pa.ChunkedArray:
    if pa.types.is_floating(values.type):  # of which 0.0 and -0.0 are equal
        return reduce(pc.or_, (pc.equal(values, one) for one in scalars))
    wanted: Any = pa.array([one.as_py() for one in scalars], values.type)
    return pc.if_else(pc.is_valid(values), pc.is_in(values, value_set=wanted), pa.scalar(None, pa.bool_()))
