"""The rows of a view: those of its query, under the columns that the view had when it was created, or evolved ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablestore_engine.catalog import View
from tablestore_engine.errors import BrokenViewError, SqlError
from tablestore_engine.metadata.warehouse.view import COMPENSATION
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.spark_types import columns_of, sql_type
from tablestore_engine.sql.query.view_columns import positions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def with_view_columns(view: View, full: str, frame: DataFrame) -> DataFrame:
    """The rows of a view's query with the view's columns. Raises BrokenViewError when the query lost one."""
    return frame if view.evolves else _with_types(view, full, _with_names(view, full, frame))


def _with_types(view: View, full: str, frame: DataFrame) -> DataFrame:
    """The rows, cast to the types that the columns had, where the view keeps them."""
    kinds, now = (
        [sql_type(one.type) for one in view.columns],
        [sql_type(kind) for _, kind, _ in columns_of(frame.schema)],
    )
    if view.mode != COMPENSATION or kinds == now:
        return frame
    names = frame.columns
    numbered = frame.toDF(*map(str, range(len(names))))
    casts = [f"CAST({quoted_name(str(i))} AS {kind})" for i, kind in enumerate(kinds)]
    try:
        with translated():
            return numbered.selectExpr(*casts).toDF(*names)
    except SqlError:
        changed = (
            f"'{name}' is {kind} and was {was}"
            for name, kind, was in zip(names, now, kinds, strict=True)
            if kind != was
        )
        raise BrokenViewError(
            f"View '{full}' cannot be read any more: its columns cannot be cast to the types that they had: "
            f"{', '.join(changed)}.",
            hint="Create it again on what exists now.",
        ) from None


def _with_names(view: View, full: str, frame: DataFrame) -> DataFrame:
    names = [c.name for c in view.columns]
    if view.query_columns:
        chosen = positions(full, view.query_columns, frame.columns)
        if chosen != tuple(range(len(frame.columns))):
            numbered = frame.toDF(*map(str, range(len(frame.columns))))
            return numbered.select(*[quoted_name(str(i)) for i in chosen]).toDF(*names)
    key = Names(names).key
    if not names or [key(n) for n in names] == [key(n) for n in frame.columns]:
        return frame
    if len(names) == len(frame.columns):
        return frame.toDF(*names)
    given = Names(frame.columns)
    return frame.select(*map(quoted_name, names)) if all(n in given for n in names) else frame
