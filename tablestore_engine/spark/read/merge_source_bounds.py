"""Bounds on the rows of a MERGE's target, computed from the rows of its source that can match them.

A row that `t.a = s.b` holds for has a value of `s.b` in `t.a`, so files and pages without one need not be read, and of
the rest only the rows with one. This pays when the target is large: the source is then computed before the join. (By
columns of the key, rows are looked up in a small target, too.)
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.schema.table.predicate import Compare, In, Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.expressions.spark_types import to_spark_type
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.read.changed_keys import BROADCAST_ROWS, is_constant

LARGE_BYTES = 64 << 20
LARGE_FILES = 64
FEW_VALUES = 1_000  # that are looked for in every file one by one
_LISTED_VALUES = 100  # that a query lists: for more, Spark compares pages only with the least and the greatest
_MAX_PRECISION = 38  # of a decimal
_INTEGERS = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_ORDERED = (T.StringType, T.BinaryType, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType)
"""Other types whose values are ordered in Python, and in statistics of files, as in Spark; floats are not: NaN."""


def is_large(plan: ScanPlan) -> bool:
    """Whether reading less of a target is worth a query before the one that changes it."""
    return plan.file_size >= LARGE_BYTES or len(plan.files) >= LARGE_FILES


def comparable_columns(pairs: list[tuple[str, str]], schema: TableSchema, source: DataFrame) -> list[tuple[str, str]]:
    """The pairs of a column of the target and one of the source, in any spelling, of whose types Spark compares the
    values as they are; it converts others first, and not always so that the order stays. Named as they are called."""
    return comparable_fields(pairs, schema, source.schema)


def comparable_fields(pairs: list[tuple[str, str]], schema: TableSchema, source: T.StructType) -> list[tuple[str, str]]:
    """The same, for a source of a type."""
    given = {f.name.lower(): f for f in source.fields}
    found = [(schema.field(name), given[column.lower()]) for name, column in pairs]
    return [(own.name, it.name) for own, it in found if _compare_alike(to_spark_type(own.type), it.dataType)]


def _compare_alike(target: T.DataType, source: T.DataType) -> bool:
    if isinstance(target, _INTEGERS):
        return isinstance(source, _INTEGERS)
    if isinstance(target, T.DecimalType) and isinstance(source, T.DecimalType):
        # Those that no decimal holds all digits of are rounded to be compared.
        whole = max(target.precision - target.scale, source.precision - source.scale)
        return whole + max(target.scale, source.scale) <= _MAX_PRECISION
    return isinstance(target, _ORDERED) and target == source


def one_key_if_equal(pairs: list[tuple[str, str]], schema: TableSchema, source: T.StructType) -> bool:
    """Whether values of each pair, of a column of the key and one of the source, are equal to Spark exactly when a
    table stores them as one key."""
    given = {f.name.lower(): f.dataType for f in source.fields}
    return all(_stored_alike(to_spark_type(schema.field(name).type), given[column.lower()]) for name, column in pairs)


def _stored_alike(target: T.DataType, source: T.DataType) -> bool:
    # Keys hold one zero and one NaN (`TableSchema.bitwise_columns`), as Spark compares them. A double is rounded where
    # it becomes a float, but not where it is compared with one.
    if isinstance(target, (T.FloatType, T.DoubleType)):
        return isinstance(source, (T.FloatType, type(target)))
    return _compare_alike(target, source)


@dataclass(frozen=True)
class SourceBounds:
    """The predicates of every row of the target that a row of the source matches (`predicates`), and how many rows the
    source has; None where it is not known."""

    predicates: tuple[Predicate, ...]
    rows: int | None


def bounds_of(source: DataFrame, pairs: list[tuple[str, str]], schema: TableSchema) -> SourceBounds:
    """The bounds of every row of the target that a row of the source matches.

    Ranges of all columns; of partition columns, and of all when rows are few, the values. One job, or two.

    Raises:
        TableStoreError: the source cannot be computed.
    """
    items = [F.count(F.lit(1)).alias("rows")]
    for i, (_, column) in enumerate(pairs):
        value = F.col(quoted_name(column))
        items += [F.min(value).alias(f"min{i}"), F.max(value).alias(f"max{i}")]
    try:
        found = collect_arrow(source.agg(*items)).to_pylist()[0]
        if any(found[f"min{i}"] is None for i in range(len(pairs))):
            return SourceBounds((In(pairs[0][0], ()),), found["rows"])  # nothing equals null
        ranges = [
            Compare(name, op, found[f"{end}{i}"])
            for i, (name, _) in enumerate(pairs)
            for op, end in ((">=", "min"), ("<=", "max"))
        ]
        few = found["rows"] <= FEW_VALUES
        values = _values(source, [p for p in pairs if few or p[0] in schema.partition_keys])
        return SourceBounds((*ranges, *values), found["rows"])
    except (OverflowError, ValueError):
        return SourceBounds((), None)  # a time that Python cannot represent, as after the year 9999


def _values(source: DataFrame, pairs: list[tuple[str, str]]) -> list[Predicate]:
    """That each column has one of the source's values, unless these are many."""
    if not pairs:
        return []
    chosen = source.select(*(F.col(quoted_name(column)).alias(str(i)) for i, (_, column) in enumerate(pairs)))
    rows = collect_arrow(chosen.distinct().limit(FEW_VALUES + 1))
    if rows.num_rows > FEW_VALUES:
        return []
    values = (rows.column(i).drop_null().unique().to_pylist() for i in range(len(pairs)))
    return [In(name, tuple(found)) for (name, _), found in zip(pairs, values, strict=True)]


def rows_with_values_of(source: str, target: str, pairs: list[tuple[str, str]], bounds: SourceBounds) -> str:
    """SQL of the rows of `target` whose columns equal those of some row of `source`; both are views (quoted).

    Spark looks each row's columns up before it reads the others. Values that are few are constants of the query, by
    which it also skips pages of the files.
    """
    on = " AND ".join(f"t.{quoted_name(name)} = s.{quoted_name(column)}" for name, column in pairs)
    hint = "/*+ BROADCAST(s) */ " if bounds.rows is not None and bounds.rows <= BROADCAST_ROWS else ""
    listed = [
        f"t.{quoted_name(one.column)} IN ({', '.join(literal(value) for value in one.values)})"
        for one in bounds.predicates
        if isinstance(one, In) and 0 < len(one.values) <= _LISTED_VALUES and all(map(is_constant, one.values))
    ]
    where = f" WHERE {' AND '.join(listed)}" if listed else ""
    return f"(SELECT {hint}t.* FROM {target} t LEFT SEMI JOIN {source} s ON {on}{where})"
