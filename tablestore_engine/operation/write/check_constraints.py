"""CHECK constraints on Arrow rows, without Spark, where Arrow has the answer of Spark (see `schema.expressions`).

A table is refused whose conditions need Spark: by their functions or types, or because they depend on a setting of the
session. So is a write with a row at which Spark fails, or may fail.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import ConstraintError, SchemaError
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.casts.cast_arrays import text_of
from tablestore_engine.schema.expressions.arrow_expressions import condition
from tablestore_engine.schema.expressions.common_types import Found
from tablestore_engine.schema.table.check_constraints import (
    VIOLATED,
    VIOLATED_HINT,
    CheckConstraint,
    check_constraints,
)
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND
from tablestore_engine.table_state import TableState

_Judged = Callable[[pa.Table], Found]

_HINT: Final = "Write by SQL, or by TableStore.write, whose DataFrame can be spark.createDataFrame(arrow_table)."
_TAKEN_BACK: Final = pa.array([UPDATE_BEFORE_KIND, DELETE_KIND], pa.int8())
_SHOWN: Final = 100  # characters of a value in a message


class RowConditions:
    """The CHECK constraints of a table, for the rows that are written."""

    def __init__(self, state: TableState) -> None:
        """Raises SchemaError for a condition that only Spark evaluates."""
        self._schema = state.schema
        self._name = state.name
        self._all = [(one, _judged(one, state)) for one in check_constraints(state.schema.options)]

    def check(self, rows: pa.Table) -> pa.Table:
        """The rows. Raises ConstraintError for one that violates a constraint and is not taken back, and SchemaError
        for one of which only Spark knows it."""
        for one, judged in self._all:
            found = judged(rows)
            at = self._first(rows, found.unknown)
            if at >= 0:
                raise SchemaError(
                    f"'{self._name}' has the CHECK constraint {one.shown}, which only Spark evaluates for the row "
                    f"{self._row(one, rows, at)}.",
                    hint=_HINT,
                )
            at = self._first(rows, pc.invert(found.values))
            if at >= 0:
                raise ConstraintError(f"{VIOLATED}{one.shown}: {self._row(one, rows, at)}.", hint=VIOLATED_HINT)
        return rows

    @staticmethod
    def _first(rows: pa.Table, chosen: Any) -> int:
        """The first row that is put and for which a condition is true; -1 when there is none."""
        if chosen is None or rows.num_rows == 0:
            return -1
        if isinstance(chosen, pa.Scalar):
            chosen = pa.repeat(chosen, rows.num_rows)
        if ROW_KIND_COLUMN in rows.column_names:
            taken_back = pc.is_in(rows.column(ROW_KIND_COLUMN).combine_chunks(), value_set=_TAKEN_BACK)
            chosen = pc.and_kleene(chosen, pc.invert(taken_back))
        return int(pc.index(chosen, pa.scalar(True)).as_py())

    def _row(self, check: CheckConstraint, rows: pa.Table, at: int) -> str:
        """The values that a condition reads of a row."""
        shown, row = [], rows.slice(at, 1)
        for name in check.columns(self._schema.field_names):
            value = text_of(row.column(name).combine_chunks(), self._schema.field(name).type, "UTC")[0].as_py()
            shown.append(f"{name} = {'NULL' if value is None else value[:_SHOWN]}")
        return ", ".join(shown)


def _judged(check: CheckConstraint, state: TableState) -> _Judged:
    read = state.read_expression
    expression = None if read is None else read(check.sql, state.schema.field_names)
    judged = None if expression is None else condition(expression, state.schema.fields)
    if judged is None:
        raise SchemaError(
            f"'{state.name}' has the CHECK constraint {check.shown}, which only Spark evaluates.",
            hint=f"{_HINT} Without Spark, a table of a TableStore knows comparisons, arithmetic, IN, BETWEEN, LIKE, "
            "IS NULL, AND, OR, NOT and a few functions, where no setting of Spark changes the answer.",
        )
    return judged
