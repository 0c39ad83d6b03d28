"""Rows of a table that are looked up by key or by position, in this process, as a DataFrame.

Spark reads a column of a file whole, or whole pages of it; for some thousand keys out of many million rows it would
read the table. Here only what may hold a key is read (`operation.read.arrow_read`). Keys and rows are held in memory,
so there are limits to both; beyond them, rows are joined with the keys as in any other query.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from itertools import chain, pairwise, takewhile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.operation.files.lookup_rows import Longs, RowKeys
from tablestore_engine.operation.read.arrow_read import output_schema, read_rows, read_rows_at
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.schema.table.predicate import Compare, In, Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.spark.expressions.char_text import typed
from tablestore_engine.spark.expressions.spark_types import to_spark_schema
from tablestore_engine.spark.queries.collect import arrow_frame, collect_arrow
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN, arrow_type_for_spark
from tablestore_engine.spark.scan.deletion_vectors import name_in_uri
from tablestore_engine.table import Table

MOST_KEYS = 200_000
MOST_ROWS = 500_000
MOST_BYTES = 256 << 20
_SPLIT_BYTES = 16 << 20  # of files, in which the rows are looked up by several threads
FEW_VALUES = 1_000  # that are looked for in every file one by one

_POSITION_COLUMNS = pa.schema([(FILE_COLUMN, pa.string()), (POSITION_COLUMN, pa.int64())])
_POSITION_FIELDS = {
    FILE_COLUMN: DataField(0, FILE_COLUMN, AtomicType("STRING")),
    POSITION_COLUMN: DataField(0, POSITION_COLUMN, AtomicType("BIGINT")),
}


def lookup_columns(pairs: Sequence[tuple[str, str]], schema: TableSchema) -> list[tuple[str, str]]:
    """The pairs of a column of the table and another one by which rows of a keyed table can be looked up.

    All records of a row have the values of its key. Blanks at the end of a CHAR do not count in comparisons.
    """
    kinds = {name: schema.field(name).type for name in schema.primary_keys}
    chosen = {name: column for name, column in pairs if name in kinds and not _is_char(kinds[name])}
    return list(chosen.items())


def _is_char(kind: object) -> bool:
    return isinstance(kind, AtomicType) and kind.root == "CHAR"


def few_keys(source: DataFrame, pairs: Sequence[tuple[str, str]], schema: TableSchema) -> RowKeys | None:
    """The values that rows of the source have for columns of the table, without those that equal nothing.

    None when the rows are many, or a value is none of the column's type. One job.

    Raises:
        TableStoreError: the source cannot be computed.
    """
    found = _few(source, [column for _, column in pairs])
    if found is None:
        return None
    return keys_among(found, [(name, f"c{i}") for i, (name, _) in enumerate(pairs)], schema)


def few_keys_of(rows: DataFrame, schema: TableSchema) -> RowKeys | None:
    """The keys of rows of the table itself, which have the columns of `key_names`; None when they are many. One job.

    Raises:
        TableStoreError: the rows cannot be computed.
    """
    names = key_names(schema)
    found = _few(rows, names)
    return None if found is None else keys_of_rows(found.rename_columns(names), schema)


def key_names(schema: TableSchema) -> list[str]:
    """The columns by which a row of the table is found: those of its key, and of its partition."""
    return list(dict.fromkeys((*schema.primary_keys, *schema.partition_keys)))


def keys_of_rows(rows: pa.Table, schema: TableSchema) -> RowKeys | None:
    """The keys of rows of the table itself, without a partition column that is null in one of them.

    Partition columns only skip files: where they do not belong to the key, it has one row in all partitions.
    """
    known = [n for n in key_names(schema) if n in schema.primary_keys or not rows.column(n).null_count]
    return keys_among(rows, [(name, name) for name in known], schema)


def _few(source: DataFrame, columns: Sequence[str]) -> pa.Table | None:
    names = [f"c{i}" for i in range(len(columns))]
    if source.columns != names or list(columns) != names:  # each step has Spark analyse the query anew
        source = source.selectExpr(
            *(f"{quoted_name(column)} AS {name}" for name, column in zip(names, columns, strict=True))
        )
    found = collect_arrow(source.limit(MOST_KEYS + 1))
    return None if found.num_rows > MOST_KEYS else found


def few_positions(rows: DataFrame) -> pa.Table | None:
    """`FILE_COLUMN` and `POSITION_COLUMN` of rows; None when they are many. One job.

    Raises:
        TableStoreError: the rows cannot be computed.
    """
    found = _few(rows, [FILE_COLUMN, POSITION_COLUMN])
    return None if found is None else found.rename_columns([FILE_COLUMN, POSITION_COLUMN])


def keys_among(source: pa.Table, pairs: Sequence[tuple[str, str]], schema: TableSchema) -> RowKeys | None:
    """The values that rows have for columns of the table, as `few_keys` returns them."""
    columns = [source.column(column) for _, column in pairs]
    kinds = [to_arrow_type(schema.field(name).type) for name, _ in pairs]
    try:
        cast = [column.cast(kind, safe=False) for column, kind in zip(columns, kinds, strict=True)]
        # A value that a cast changes is no value of the column.
        same = [pc.equal(a.cast(b.type, safe=False), b) for a, b in zip(cast, columns, strict=True)]
    except pa.ArrowInvalid:
        return None
    keys = pa.table(cast, names=[name for name, _ in pairs])
    return RowKeys(keys.filter(reduce(pc.and_, same)))


def predicates_of(keys: RowKeys) -> list[Predicate]:
    """The predicate of every row with one of the keys, to skip partitions, buckets and files by."""
    found: list[Predicate] = []
    for name, values in keys.distinct.items():
        if not len(values):
            return [In(name, ())]
        try:
            ends = pc.min_max(values).as_py()
            found += [Compare(name, ">=", ends["min"]), Compare(name, "<=", ends["max"])]
            if len(values) <= FEW_VALUES:
                found.append(In(name, tuple(values.to_pylist())))
        except (OverflowError, ValueError):
            continue  # a time that Python cannot represent, as after the year 9999
    return found


def rows_of_keys(table: Table, plan: ScanPlan, keys: RowKeys, columns: Sequence[str] | None = None) -> pa.Table | None:
    """The rows of a keyed table's plan that have one of the keys; None when they are too many to hold.

    Of the `columns`, by default all.
    """
    names = tuple(plan.schema.field_names if columns is None else columns)
    state, held = table.state.with_schema(plan.schema), _Held()

    def read(part: ScanPlan) -> list[pa.RecordBatch]:
        try:
            return list(takewhile(held.takes, read_rows(state, part, names, keys)))
        except BaseException:
            held.too_many = True  # the others need not go on
            raise

    parts = _parts(plan)
    if len(parts) == 1:
        found = [read(plan)]
    else:
        with ThreadPoolExecutor(len(parts), "tablestore-lookup") as threads:
            found = list(threads.map(read, parts))
    if held.too_many:
        return None
    return pa.Table.from_batches(chain.from_iterable(found), output_schema(plan.schema, names))


def with_nulls(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Rows with nulls for the columns that were not read of them, but `required_columns`."""
    read, required = set(rows.column_names), set(schema.required_columns)
    shape = output_schema(schema, tuple(n for n in schema.field_names if n in read or n not in required))
    if len(shape) == len(read):
        return rows
    columns = [rows.column(f.name) if f.name in read else pa.nulls(rows.num_rows, f.type) for f in shape]
    return pa.Table.from_arrays(columns, schema=shape)


class _Held:
    """How many rows are held; safe for many threads."""

    def __init__(self) -> None:
        self._rows = self._bytes = 0
        self._lock = threading.Lock()
        self.too_many = False

    def takes(self, batch: pa.RecordBatch) -> bool:
        """Count the rows of a batch. Returns whether all rows are still few enough to hold."""
        with self._lock:
            self._rows += batch.num_rows
            self._bytes += batch.nbytes
            self.too_many = self.too_many or self._rows > MOST_ROWS or self._bytes > MOST_BYTES
            return not self.too_many


def _parts(plan: ScanPlan) -> list[ScanPlan]:
    """The plan in as many parts as there are processors, of about as many buckets each; a small one is left whole."""
    count = min(pa.cpu_count(), len(plan.buckets)) if plan.file_size >= _SPLIT_BYTES else 1
    ends = [len(plan.buckets) * i // count for i in range(count + 1)] if count > 1 else []
    return [replace(plan, buckets=plan.buckets[a:b]) for a, b in pairwise(ends)] or [plan]


def rows_at(table: Table, plan: ScanPlan, positions: pa.Table) -> pa.Table | None:
    """The rows of an append table's plan at some positions, which are not deleted, with the columns of these; None when
    they are too many to hold."""
    by_name = {name_in_uri(f.file_name): (b, f) for b in plan.buckets for f in b.files}
    state = table.state.with_schema(plan.schema)
    shape = pa.schema([*output_schema(plan.schema, plan.schema.field_names), *_POSITION_COLUMNS])
    found: list[pa.RecordBatch] = []
    size = 0
    for uri, numbers in _by_file(positions):
        bucket, file = by_name[uri.rpartition("/")[2]]
        begin = 0
        for batch in read_rows_at(state, plan.schema, (bucket, file), numbers):
            end = begin + batch.num_rows
            columns = [*batch.columns, pa.repeat(uri, batch.num_rows), pa.array(numbers[begin:end])]
            found.append(pa.RecordBatch.from_arrays(columns, schema=shape))
            begin, size = end, size + batch.nbytes
            if size > MOST_BYTES:
                return None
    return pa.Table.from_batches(found, shape)


def _by_file(positions: pa.Table) -> Iterator[tuple[str, Longs]]:
    """The positions of each file, in order."""
    files = pc.unique(positions.column(FILE_COLUMN))
    of_file = pc.index_in(positions.column(FILE_COLUMN), value_set=files).to_numpy()
    numbers = positions.column(POSITION_COLUMN).to_numpy()
    order = np.lexsort((numbers, of_file))
    ends = np.searchsorted(of_file[order], np.arange(1, len(files)))
    yield from zip(files.to_pylist(), np.split(numbers[order], ends), strict=False)  # without rows, one empty part


def frame_of_rows(spark: SparkSession, rows: pa.Table, schema: TableSchema) -> DataFrame:
    """Rows of a table as they are read, or some columns of them, maybe with their positions (`rows_at`)."""
    fields = fields_of(rows, schema)
    return typed(frame_of_fields(spark, rows, fields), schema, fields)


def fields_of(rows: pa.Table, schema: TableSchema) -> list[DataField]:
    """The columns of such rows."""
    return [_POSITION_FIELDS.get(name) or schema.field(name) for name in rows.column_names]


def frame_of_fields(spark: SparkSession, rows: pa.Table, fields: Sequence[DataField]) -> DataFrame:
    """Rows with the Spark types of fields, whatever Spark would make of their Arrow types."""
    return arrow_frame(spark, for_spark(rows, fields), to_spark_schema(fields))


def for_spark(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """Rows in the Arrow types in which Spark takes them."""
    kinds = pa.schema([(f.name, arrow_type_for_spark(f.type)) for f in fields])
    cast = [rows.column(i).cast(kind, safe=False) for i, kind in enumerate(kinds.types)]
    return pa.Table.from_arrays(cast, schema=kinds)
