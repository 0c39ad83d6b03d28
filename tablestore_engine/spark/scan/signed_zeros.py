"""Filters on floating-point columns that Spark's readers of files apply: 0.0 equals -0.0 in SQL.

The readers compare by bits where a file has a dictionary or a bloom filter (Parquet), and sort -0.0 before 0.0 (ORC).
They would skip row groups that hold the other zero, in plain files as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pyspark.sql import DataFrame

from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataField, RowType, has_root

FLOATS = ("FLOAT", "DOUBLE")
_BY_BOUNDS_ALONE: Mapping[str, str] = MappingProxyType(
    {"parquet.filter.dictionary.enabled": "false", "parquet.filter.bloom.enabled": "false"}
)


def reader_options(file_format: str, fields: Sequence[DataField]) -> Mapping[str, str]:
    """Options of a reader of columns. The bounds in Parquet files take both zeros for one."""
    floats = file_format == "parquet" and any(has_root(one.type, FLOATS) for one in fields)
    return _BY_BOUNDS_ALONE if floats else {}


def without_pushed_floats(frame: DataFrame, file_format: str, fields: Sequence[DataField]) -> DataFrame:
    """The rows of ORC files, with floating-point columns on which Spark's reader applies no filter."""
    if file_format != "orc":
        return frame
    hidden = [_hidden(one) for one in fields]
    if not any(hidden):
        return frame
    return frame.selectExpr(*(sql or quoted_name(one.name) for one, sql in zip(fields, hidden, strict=True)))


def _hidden(field: DataField) -> str | None:
    """The column as an expression of the same value that no reader knows; None where no filter on it has a float."""
    name = quoted_name(field.name)
    if isinstance(field.type, AtomicType):
        return f"nanvl({name}, {name}) AS {name}" if field.type.root in FLOATS else None
    if isinstance(field.type, RowType) and has_root(field.type, FLOATS):
        return f"element_at(array({name}), 1) AS {name}"
    return None
