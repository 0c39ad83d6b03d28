"""Fitting a query's columns to a table's: by position, by name, with a column list and static partition values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tablestore_engine.errors import SchemaError, UnsupportedTypeError
from tablestore_engine.operation.job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.row_kind import (
    KINDS,
    KINDS_HINT,
    UNKNOWN_KIND,
    own_kind_column,
    row_kind_column,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.expressions.by_name import by_name_sql
from tablestore_engine.spark.expressions.char_text import filled
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.expressions.types import from_spark_type, to_spark_type
from tablestore_engine.spark.run.errors import translated


def align(
    frame: DataFrame,
    schema: TableSchema,
    columns: Sequence[str] = (),
    static: Mapping[str, Column] | None = None,
    *,
    by_name: bool = False,
) -> DataFrame:
    """The frame with exactly the table's columns, in order and type, and `ROW_KIND_COLUMN` when rows say their kind.

    Args:
        frame: the query's result.
        schema: the table's.
        columns: the column list for the query's columns, in order; without, the table's columns.
        static: values of the columns of the PARTITION clause, by lower-case name.
        by_name: match by name instead of by position.

    Fields of nested values match by name under `by_name` or a column list, else by position.

    Raises:
        SchemaError: the columns do not fit; the message names them.
    """
    static = static or {}
    named_fields = by_name or bool(columns)
    given = list(frame.columns)
    names = list(columns) or given
    kind = row_kind_column(names, schema)
    at = names.index(kind) if kind is not None else None
    rest = [i for i in range(len(given)) if i != at]
    if by_name and not columns:
        sources = _by_name([given[i] for i in rest], schema, set(static))
    else:
        columns = [c for c in columns if c != kind]
        # A list that is too short or too long is reported by its own check.
        sources = _by_position([given[i] for i in rest], schema, columns, set(static))
    sources = {name: rest[i] for name, i in sources.items()}
    # Names of a query's columns may repeat, so columns are taken by position.
    frame = frame.toDF(*[f"__{i}" for i in range(len(given))])
    selected = []
    kinds = {f.name: f.dataType for f in frame.schema.fields}
    for field in schema.fields:
        target = to_spark_type(field.type)
        if field.name.lower() in static:
            column = static[field.name.lower()].cast(target)
        elif field.name.lower() in sources:
            source = f"__{sources[field.name.lower()]}"
            column = F.col(source)
            if kinds[source] != target:
                if named_fields:
                    column = F.expr(by_name_sql(source, kinds[source], target, field.name))
                column = column.cast(target)
                try:
                    from_spark_type(kinds[source], field.name)
                except UnsupportedTypeError as error:
                    raise SchemaError(str(error)) from error
        elif field.default_value is None and not field.type.nullable:
            raise SchemaError(
                f"Column '{field.name}' is NOT NULL, but the query gives no value for it.",
                hint=f"Add it to the column list ({', '.join(columns) or 'none given'}).",
            )
        else:
            column = F.expr(default_sql(field))
        selected.append(column.alias(field.name))
    if at is not None:
        selected.append(_kind_number(f"__{at}").alias(ROW_KIND_COLUMN))
    own = own_kind_column(schema)
    with translated():
        result = filled(frame.select(*selected), schema)
        if own is not None:
            result = result.withColumn(ROW_KIND_COLUMN, _kind_number(quoted_name(own)))
        _ = result.columns
        return result


def _kind_number(source: str) -> Column:
    """The number of each row's kind; an unknown text fails the query."""
    known = " ".join(f"WHEN {literal(text)} THEN {number}Y" for number, text in enumerate(KINDS))
    given = f"coalesce(cast({source} as string), 'null')"
    message = f"concat({literal(UNKNOWN_KIND)}, {given}, {literal(f'. {KINDS_HINT}')})"
    return F.expr(f"CASE cast({source} as string) {known} ELSE raise_error({message}) END")


def _by_position(given: list[str], schema: TableSchema, columns: Sequence[str], static: set[str]) -> dict[str, int]:
    names = list(columns) or [n for n in schema.field_names if n.lower() not in static]
    for name in columns:
        schema.field(name)
        if name.lower() in static:
            raise SchemaError(f"Column '{name}' is given twice: in the PARTITION clause and in the column list.")
    if len({n.lower() for n in names}) < len(names):
        raise SchemaError(f"The column list names a column twice: {', '.join(names)}.")
    if len(names) != len(given):
        raise SchemaError(
            f"The query returns {len(given)} column{'s'[: len(given) != 1]} ({', '.join(given)}), "
            f"but {len(names)} {'is' if len(names) == 1 else 'are'} expected ({', '.join(names)}).",
            hint="Name the columns that the query fills: INSERT INTO t (a, b) SELECT …",
        )
    return {name.lower(): i for i, name in enumerate(names)}


def _by_name(given: list[str], schema: TableSchema, static: set[str]) -> dict[str, int]:
    sources: dict[str, int] = {}
    for i, name in enumerate(given):
        if not schema.has_field(name):
            raise SchemaError(
                f"The query returns a column '{name}' that the table does not have.",
                hint=f"The table has: {', '.join(schema.field_names)}.",
            )
        if name.lower() in sources or name.lower() in static:
            raise SchemaError(f"Column '{name}' is given twice.")
        sources[name.lower()] = i
    return sources


def expression(sql: str) -> Column:
    """A bound SQL expression as a column."""
    return F.expr(sql)
