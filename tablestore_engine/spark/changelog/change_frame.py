"""The changes of a plan as a DataFrame, with their kind in `_row_kind` first.

Of few changed keys, the rows before and after are looked up in this process. Of many, before and after are ordinary
reads, of only the files within reach of the change; of their rows only those count whose key a changed file holds.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.operation.changelog.arrow_changes import marked_rows, read_changes
from tablestore_engine.operation.changelog.change_plan import (
    AllRows,
    ChangePlan,
    KeyedDiff,
    SignedFiles,
    changed_positions,
    key_columns,
)
from tablestore_engine.operation.read.arrow_read import output_schema
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.operation.stream.pieces import pieces_of
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import COUNT, COUNT_COLUMNS
from tablestore_engine.schema.types.types import AtomicType, DataField, has_root
from tablestore_engine.spark.expressions.char_text import typed
from tablestore_engine.spark.expressions.equal_rows import comparable_row, summed_rows
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal
from tablestore_engine.spark.read.changed_keys import BROADCAST_ROWS
from tablestore_engine.spark.read.lookup_rows import MOST_KEYS, frame_of_fields, frame_of_rows, lookup_columns
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.read.multiset_reader import repeated_sql
from tablestore_engine.spark.scan.file_scan import FileScans
from tablestore_engine.table import Table

_INSERT, _BEFORE, _AFTER, _DELETE = (formatted_literal(kind) for kind in KINDS)
_COUNT = "__tablestore_count"
_MOST_FILE_BYTES = 64 << 20  # of the files that hold the keys
_ONE_PARTITION_BYTES = 8 << 20  # in memory
_ROW, _VALUE = "__tablestore_row", "__tablestore_value"


def change_frame(
    spark: SparkSession, table: Table, plan: ChangePlan, columns: frozenset[str] | None = None
) -> DataFrame:
    """The changed rows: `_row_kind`, then the table's columns; or at least those of the names `columns`, in lower
    case."""
    if isinstance(plan, AllRows):
        return _inserted(read_plan(spark, table, plan.rows))
    if isinstance(plan, SignedFiles):
        return _changes_of_signed_files(spark, table, plan)
    few = few_changes(table, plan, columns)
    return _changes_by_key(spark, table, plan) if few is None else frame_of_changes(spark, few, plan.after.schema)


def _inserted(rows: DataFrame) -> DataFrame:
    return rows.selectExpr(f"{_INSERT} AS {ROW_KIND}", "*")


def _has_few_keys(plan: KeyedDiff) -> bool:
    """Whether the keys that may have changed are few enough to look their rows up."""
    files, schema = plan.changed_files, plan.after.schema
    exact = lookup_columns([(name, name) for name in schema.primary_keys], schema)
    kinds = [schema.field(name).type for name, _ in exact]
    known = len(exact) == len(schema.primary_keys) and not any(has_root(one, ("FLOAT", "DOUBLE")) for one in kinds)
    compared_otherwise = any(has_root(f.type, ("VARIANT",)) for f in schema.fields)
    return known and not compared_otherwise and files.row_count <= MOST_KEYS and files.file_size <= _MOST_FILE_BYTES


def few_changes(table: Table, plan: ChangePlan, columns: frozenset[str] | None = None) -> pa.Table | None:
    """The changed rows of few keys, as `change_frame` returns them, which are looked up in this process, bucket by
    bucket; None where Spark reads them."""
    if not isinstance(plan, KeyedDiff) or not _has_few_keys(plan):
        return None
    schema, keys = plan.after.schema, key_columns(plan.after.schema)
    state = table.state.with_schema(schema)
    names = tuple(n for n in schema.field_names if columns is None or n in keys or n.lower() in columns)
    empty = output_schema(schema, names).empty_table().add_column(0, ROW_KIND, pa.array([], pa.string()))
    plans = [piece.plan for piece in pieces_of(plan) if isinstance(piece.plan, KeyedDiff)]
    with ThreadPoolExecutor(pa.cpu_count(), "tablestore-changes") as threads:
        found = list(threads.map(lambda one: read_changes(state, one, names), plans))
    return pa.concat_tables([empty, *found])


def frame_of_changes(spark: SparkSession, rows: pa.Table, schema: TableSchema) -> DataFrame:
    """Such rows as a DataFrame."""
    kind = DataField(0, ROW_KIND, AtomicType("STRING"))
    fields = [kind, *(schema.field(name) for name in rows.column_names[1:])]
    frame = typed(frame_of_fields(spark, rows, fields), schema, fields)
    # As a small table (`read_plan`): rows in one partition are joined and grouped without a shuffle.
    return frame.coalesce(1) if rows.nbytes <= _ONE_PARTITION_BYTES else frame


def _changes_by_key(spark: SparkSession, table: Table, plan: KeyedDiff) -> DataFrame:
    schema = plan.after.schema
    scans = FileScans(spark, table, schema)
    files = [(b, f) for b in plan.changed_files.buckets for f in b.files]
    if not files:
        return _inserted(scans.empty())
    keys = key_columns(schema)
    few = sum(f.row_count for _, f in files) <= BROADCAST_ROWS
    same = " AND ".join(f"s.{formatted(k)} = t.{formatted(k)}" for k in keys)
    if set(schema.partition_keys) - set(schema.primary_keys):
        same = " AND ".join(f"s.{formatted(k)} <=> t.{formatted(k)}" for k in keys)
    chosen = ", ".join(formatted(k) for k in keys)
    row = f"struct({', '.join(formatted(n) for n in schema.field_names)})"

    def state(name: str) -> str:
        """Query for the rows of a state whose key a changed file holds, each as one value."""
        hint = "/*+ BROADCAST(t) */ " if few else ""
        changed = f"SELECT {chosen} FROM {{changed}}"
        semi = f"SELECT {hint}s.* FROM {{{name}}} s LEFT SEMI JOIN ({changed}) t ON {same}"
        return f"SELECT {chosen}, {row} AS {_ROW}, {comparable_row(schema.fields)} AS {_VALUE} FROM ({semi})"

    on = " AND ".join(f"b.{formatted(k)} <=> a.{formatted(k)}" for k in keys)
    changes = (
        f"CASE WHEN b.{_ROW} IS NULL THEN array(named_struct('k', {_INSERT}, 'r', a.{_ROW}))"
        f" WHEN a.{_ROW} IS NULL THEN array(named_struct('k', {_DELETE}, 'r', b.{_ROW}))"
        f" WHEN b.{_VALUE} <=> a.{_VALUE} THEN array()"
        f" ELSE array(named_struct('k', {_BEFORE}, 'r', b.{_ROW}), named_struct('k', {_AFTER}, 'r', a.{_ROW})) END"
    )
    # Only changed rows reach the lists: most rows of a state that was compacted are as they were.
    differ = f"b.{_ROW} IS NULL OR a.{_ROW} IS NULL OR NOT (b.{_VALUE} <=> a.{_VALUE})"
    text = (
        f"SELECT k AS {ROW_KIND}, r.* FROM (SELECT inline({changes}) FROM"
        f" ({state('before')}) b FULL OUTER JOIN ({state('after')}) a ON {on} WHERE {differ})"
    )
    return typed(
        spark.sql(
            text,
            changed=scans.scan(files),
            before=read_plan(spark, table, plan.before),
            after=read_plan(spark, table, plan.after),
        ),
        schema,
    )


def _changes_of_signed_files(spark: SparkSession, table: Table, plan: SignedFiles) -> DataFrame:
    looked_up = None
    if plan.marked:
        looked_up = _marked_rows(spark, table, plan)
        plan = replace(plan, marked=()) if looked_up is not None else plan.of_whole_files
    scans = FileScans(spark, table, plan.added.schema)
    files = [(b, f) for b in plan.added.buckets for f in b.files]
    if looked_up is None and not plan.removed.buckets and not any(is_retraction(f) for _, f in files):
        rows = scans.scan(files) if files else scans.empty()
        return _inserted(typed(rows, plan.added.schema))
    names = [formatted(n) for n in plan.added.schema.field_names]
    columns = ", ".join(names)
    parts = [
        part for sign, one in ((1, plan.added), (-1, plan.removed)) for part in _rows_with_counts(scans, one, sign)
    ]
    parts += looked_up or ()
    summed = f"SELECT * FROM ({summed_rows(plan.added.schema.fields, _COUNT, '{rows}')}) WHERE {_COUNT} <> 0"
    kind = f"CASE WHEN {_COUNT} > 0 THEN {_INSERT} ELSE {_DELETE} END AS {ROW_KIND}"
    text = repeated_sql(f"SELECT {kind}, {columns}, abs({_COUNT}) AS {_COUNT} FROM ({summed})", [ROW_KIND, *names])
    return typed(spark.sql(text, rows=reduce(DataFrame.unionAll, parts)), plan.added.schema)


def _marked_rows(spark: SparkSession, table: Table, plan: SignedFiles) -> list[DataFrame] | None:
    """The rows that files which stayed lost, or got back, with how often each counts; None when they are many."""
    state, schema = table.state.with_schema(plan.added.schema), plan.added.schema
    if sum(len(new) + len(old) for _, new, old in changed_positions(state.io, plan.marked)) > MOST_KEYS:
        return None
    by_sign: dict[int, list[pa.Table]] = {}
    for sign, rows in marked_rows(state, plan):
        by_sign.setdefault(sign, []).append(rows)
    return [
        frame_of_rows(spark, pa.concat_tables(rows), schema).selectExpr("*", f"{sign}L AS {_COUNT}")
        for sign, rows in by_sign.items()
    ]


def _rows_with_counts(scans: FileScans, plan: ScanPlan, sign: int) -> list[DataFrame]:
    """The rows of files with how often each counts."""
    files = [(b, f) for b in plan.buckets for f in b.files]
    plain = [one for one in files if not is_retraction(one[1])]
    retractions = [one for one in files if is_retraction(one[1])]
    parts = []
    if plain:
        parts.append(scans.scan(plain).selectExpr("*", f"{sign}L AS {_COUNT}"))
    if retractions:
        frame = scans.scan(retractions, COUNT_COLUMNS)
        parts.append(frame.selectExpr("*", f"{COUNT.name} * {sign}L AS {_COUNT}").drop(COUNT.name))
    return parts
