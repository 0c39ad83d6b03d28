"""Fitting a query's columns to a table's: by position, by name, with a column list and static partition values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tablestore_engine.errors import SchemaError, UnsupportedTypeError
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.row_kind import (
    KINDS,
    UNKNOWN_KIND,
    own_kind_column,
    row_kind_column,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.system_columns import OWN_PREFIX
from tablestore_engine.schema.types.types import TIMESTAMP_ROOTS, AtomicType, DataField
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.expressions.assignable_types import LEGACY
from tablestore_engine.spark.expressions.assigned_value import StoreAssignment
from tablestore_engine.spark.expressions.cast_old_columns_sql import without_digits
from tablestore_engine.spark.expressions.char_text import filled
from tablestore_engine.spark.expressions.checked_cast import checked_cast
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.expressions.spark_types import from_spark_type, sql_type, to_spark_type
from tablestore_engine.spark.session.session_settings import assignment_policy, refuses_values, session_resolver


def align(
    frame: DataFrame,
    schema: TableSchema,
    columns: Sequence[str] = (),
    static: Mapping[str, str] | None = None,
    *,
    by_name: bool = False,
    any_type: bool = False,
    fills: bool = False,
) -> DataFrame:
    """The frame with exactly the table's columns, in order and type, and `ROW_KIND_COLUMN` when rows say their kind.

    Args:
        frame: the query's result.
        schema: the table's.
        columns: the column list for the query's columns, in order; without, the table's columns.
        static: SQL of the values of the columns of the PARTITION clause, by the name of the column.
        by_name: match by name instead of by position.
        any_type: cast all values, whatever the session says of the types that may be assigned.
        fills: structs whose fields match by name may lack some, which are null.

    Fields of nested values match by name under `by_name` or a column list, else by position.

    Raises:
        SchemaError: the columns do not fit; the message names them.
        ColumnNotFound: a name that is spelled in another way, where the session distinguishes names by their case.
    """
    static = static or {}
    named_fields = by_name or bool(columns)
    given = list(frame.columns)
    names = list(columns) or given
    kind = row_kind_column(names, schema)
    at = names.index(kind) if kind is not None else None
    rest = [i for i in range(len(given)) if i != at]
    resolver = session_resolver(frame.sparkSession)
    for name in names if named_fields else ():
        resolver.check_spelling(name, schema.names.find(name) or name)
    if by_name and not columns:
        sources = _by_name([given[i] for i in rest], schema, set(static))
    else:
        columns = [c for c in columns if c != kind]
        # A list that is too short or too long is reported by its own check.
        sources = _by_position([given[i] for i in rest], schema, columns, set(static))
    sources = {name: rest[i] for name, i in sources.items()}
    frame, sources_sql = _referable(frame, named=not static)
    selected = []
    policy = (lambda: LEGACY) if any_type else partial(assignment_policy, frame.sparkSession)
    assignment = StoreAssignment(
        resolver if named_fields else None, policy, partial(refuses_values, frame.sparkSession), fills=fills
    )
    for field in schema.fields:
        at_source = sources.get(field.name)
        if field.name in static:
            value = given_value_sql(static[field.name], field, frame.sparkSession)
        elif at_source is not None:
            kind_given = frame.schema.fields[at_source].dataType
            value = _fitted(sources_sql[at_source], kind_given, field, assignment)
        elif field.default_value is None and not field.type.nullable:
            raise SchemaError(
                f"Column '{field.name}' is NOT NULL, but the query gives no value for it.",
                hint=f"Add it to the column list ({', '.join(columns) or 'none given'}).",
            )
        else:
            value = default_sql(field)
        selected.append((value, field.name))
    if at is not None:
        selected.append((_kind_sql(sources_sql[at]), ROW_KIND_COLUMN))
    own = own_kind_column(schema)
    with translated():
        result = filled(_selected(frame, selected), schema)
        if own is not None:
            result = result.withColumn(ROW_KIND_COLUMN, F.expr(_kind_sql(quoted_name(own))))
        _ = result.columns
        return result


def given_value_sql(value: str, field: DataField, spark: SparkSession) -> str:
    """SQL of a value of a PARTITION clause as its column holds it: to Spark, such values of all types are texts."""
    wanted = to_spark_type(field.type)
    if not isinstance(wanted, (T.StringType, T.BinaryType)) and refuses_values(spark):
        return checked_cast(f"CAST({value} AS STRING)", wanted, field.name, T.StringType())
    return f"CAST({value} AS {sql_type(field.type)})"


def align_by_name(frame: DataFrame, schema: TableSchema, *, fills: bool = False) -> DataFrame:
    """The same, for the columns of a DataFrame, which have the names of the table's."""
    return align(frame, schema, by_name=True, fills=fills)


def _referable(frame: DataFrame, *, named: bool) -> tuple[DataFrame, list[str]]:
    """The frame, and SQL that is the value of each of its columns.

    Columns keep their names if `named` and if all differ. Otherwise they get others, which no expression of a user has.
    """
    names = frame.columns
    if not named or len({name.lower() for name in names}) < len(names):
        names = [f"{OWN_PREFIX}{i}" for i in range(len(names))]
        frame = frame.toDF(*names)
    return frame, [quoted_name(name) for name in names]


def _fitted(source: str, given: T.DataType, field: DataField, assignment: StoreAssignment) -> str:
    """SQL of a column of the query in the type of a column of the table."""
    target = to_spark_type(field.type)
    if given == target:
        return _cut(source, field)
    value = assignment.sql(source, given, target, field.name)
    try:
        from_spark_type(given, field.name)
    except UnsupportedTypeError as error:
        raise SchemaError(str(error)) from error
    return _cut(f"CAST({value} AS {sql_type(field.type)})", field)


def _cut(value: str, field: DataField) -> str:
    """A timestamp without the digits that its column does not have, as SQL assigns it; Spark has microseconds only."""
    kind = field.type
    if isinstance(kind, AtomicType) and kind.root in TIMESTAMP_ROOTS:
        return without_digits(value, replace(kind, precision=6), kind)
    return value


def _selected(frame: DataFrame, columns: Sequence[tuple[str, str]]) -> DataFrame:
    """The values of SQL expressions under these names; the frame itself if they are its columns already.

    As texts, because every operation on a `Column` costs a dozen calls of the JVM, and every new frame an analysis.
    """
    if [quoted_name(name) for name in frame.columns] == [value for value, _ in columns] and frame.columns == [
        name for _, name in columns
    ]:
        return frame
    return frame.selectExpr(*[f"{value} AS {quoted_name(name)}" for value, name in columns])


def _kind_sql(source: str) -> str:
    """SQL of the number of each row's kind; an unknown text fails the query."""
    known = " ".join(f"WHEN {literal(text)} THEN {number}Y" for number, text in enumerate(KINDS))
    given = f"coalesce(cast({source} as string), 'null')"
    message = f"concat({literal(UNKNOWN_KIND)}, {given}, '.')"
    return f"CASE cast({source} as string) {known} ELSE raise_error({message}) END"


def _by_position(given: list[str], schema: TableSchema, columns: Sequence[str], static: set[str]) -> dict[str, int]:
    names = [schema.field(name).name for name in columns] or [n for n in schema.field_names if n not in static]
    for name in names:
        if name in static:
            raise SchemaError(f"Column '{name}' is given twice: in the PARTITION clause and in the column list.")
    if len(set(names)) < len(names):
        raise SchemaError(f"The column list names a column twice: {', '.join(names)}.")
    if len(names) != len(given):
        raise SchemaError(
            f"The query returns {len(given)} column{'s'[: len(given) != 1]} ({', '.join(given)}), "
            f"but {len(names)} {'is' if len(names) == 1 else 'are'} expected ({', '.join(names)}).",
            hint="Name the columns that the query fills: INSERT INTO t (a, b) SELECT …",
        )
    return {name: i for i, name in enumerate(names)}


def _by_name(given: list[str], schema: TableSchema, static: set[str]) -> dict[str, int]:
    sources: dict[str, int] = {}
    for i, name in enumerate(given):
        if not schema.has_field(name):
            raise SchemaError(
                f"The query returns a column '{name}' that the table does not have.",
                hint=f"The table has: {', '.join(schema.field_names)}.",
            )
        own = schema.field(name).name
        if own in sources or own in static:
            raise SchemaError(f"Column '{name}' is given twice.")
        sources[own] = i
    return sources
