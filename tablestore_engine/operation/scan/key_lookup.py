"""Keys: which of them small files hold that a predicate accepts, and which of some a bucket may hold.

A point query on a table with fresh level-0 files needs no join: the keys of the small files are read here. They show
that these files hold no such key, or which few of them they hold.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.metadata.bucket_hash import bucket_ids
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.scan.file_skipping import hashed_as_today
from tablestore_engine.operation.scan.scan_plan import BucketScan, stored_file
from tablestore_engine.operation.scan.stats_may_match import comparable, equalities, key_value
from tablestore_engine.schema.table.predicate import And, Compare, Constant, In, Or, Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import DataType
from tablestore_engine.table_state import TableState

MAX_ROWS = 250_000
MAX_FILES = 32
_MOST_PINNED = 10_000
_OPERATORS = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def key_condition(predicate: Predicate | None, schema: TableSchema) -> pc.Expression | None:
    """The condition of a predicate on the primary key, as an Arrow expression; None when there is none.

    It is a necessary condition, as the predicate is: parts on other columns and parts that Arrow may judge in another
    way than Spark are left out.
    """
    if isinstance(predicate, And):
        parts = [p for p in (key_condition(c, schema) for c in predicate.children) if p is not None]
        return _join(parts, operator.and_)
    if isinstance(predicate, Or):
        choices = [key_condition(child, schema) for child in predicate.children]
        return None if any(c is None for c in choices) else _join(choices, operator.or_)
    if not isinstance(predicate, (Compare, In)):
        return None
    field = schema.field(predicate.column) if schema.has_field(predicate.column) else None
    if field is None or field.name not in schema.primary_keys:
        return None
    values = predicate.values if isinstance(predicate, In) else (predicate.value,)
    scalars: list[Any] = [certain_scalar(value, field.type) for value in values]
    if any(scalar is None for scalar in scalars):
        return None
    if isinstance(predicate, In):
        return pc.field(field.name).isin(
            pa.array([s.as_py() for s in scalars if s is not None], to_arrow_type(field.type))
        )
    return _OPERATORS[predicate.op](pc.field(field.name), scalars[0])


def certain_scalar(value: Constant, data_type: DataType) -> pa.Scalar | None:
    """The constant as an Arrow value of the column's type; None when it is not certain that Arrow compares it so."""
    converted = comparable(value, data_type)
    try:
        scalar = None if converted is None else pa.scalar(converted, to_arrow_type(data_type))
    except (pa.ArrowException, OverflowError, TypeError):
        return None
    return scalar if scalar is not None and scalar.as_py() == converted else None


def _join(
    parts: Sequence[pc.Expression | None], how: Callable[[pc.Expression, pc.Expression], pc.Expression]
) -> pc.Expression | None:
    joined: pc.Expression | None = None
    for part in parts:
        joined = part if joined is None else how(joined, part)
    return joined


def matching_keys(
    state: TableState,
    files: Sequence[tuple[BucketScan, DataFileMeta]],
    predicate: Predicate | None,
) -> pa.Table | None:
    """The distinct primary keys of `files` that may satisfy the predicate; None when they are not worth reading.

    One column per primary key column. At most `MAX_ROWS` keys are held.

    Raises:
        CorruptMetadataError, StorageError: a file cannot be read.
    """
    condition = key_condition(predicate, state.schema)
    return None if condition is None else keys_of(state, files, condition)


def keys_of(
    state: TableState,
    files: Sequence[tuple[BucketScan, DataFileMeta]],
    condition: pc.Expression | None = None,
) -> pa.Table | None:
    """The distinct primary keys of `files`, those that a condition accepts; None when they are too many to hold here.

    Raises:
        CorruptMetadataError, StorageError: a file cannot be read.
    """
    if len(files) > MAX_FILES or sum(f.row_count for _, f in files) > MAX_ROWS:
        return None
    schema = state.schema
    names = tuple(schema.primary_keys)
    found: list[pa.RecordBatch] = []
    for bucket, file in files:
        stored = stored_file(state, bucket, file)
        deleted = positions_in(state.io, bucket.deletions, file.file_name)
        for batch in read_batches(state.io, stored, schema, FileColumns(names), deleted=deleted):
            if condition is None:
                found.append(batch)
            else:
                found.extend(pa.Table.from_batches([batch]).filter(condition).to_batches())
    arrow = pa.schema([(n, to_arrow_type(schema.field(n).type)) for n in names])
    keys = pa.Table.from_batches([b.cast(arrow) for b in found], arrow)
    # Arrow takes a name that begins with a dot for a path.
    numbered = [f"k{i}" for i in range(len(names))]
    distinct = keys.rename_columns(numbered).group_by(numbered).aggregate([])
    return distinct.select(numbered).rename_columns(list(names))


def pinned_keys(predicate: Predicate | None, schema: TableSchema) -> RowKeys | None:
    """The primary keys of which a predicate demands one; None when it leaves a column of the key open."""
    if predicate is None:
        return None
    allowed = equalities(predicate, schema)
    columns: list[list[Any]] = []
    for name in schema.primary_keys:
        kind = schema.field(name).type
        values = [key_value(value, kind) for value in allowed.get(name, (None,))]
        if any(value is None for value in values):
            return None
        columns.append(values)
    if math.prod(len(values) for values in columns) > _MOST_PINNED:
        return None
    rows = list(itertools.product(*columns))
    kinds = [to_arrow_type(schema.field(name).type) for name in schema.primary_keys]
    try:
        arrays = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    except (pa.ArrowException, OverflowError):
        return None
    return RowKeys(pa.table(arrays, names=list(schema.primary_keys)))


def keys_in(bucket: BucketScan, keys: RowKeys, schema: TableSchema, schemas: Callable[[int], TableSchema]) -> RowKeys:
    """The keys that a bucket may hold, by its partition and its number."""
    if len(bucket.partition) == len(schema.partition_keys):
        for name, value in zip(schema.partition_keys, bucket.partition, strict=True):
            if name in keys.names:
                column = keys.values.column(name)
                keys = keys.where(pc.equal(column, pa.scalar(value, column.type)))
    whole = schema.bucket_keys and set(schema.bucket_keys) <= set(keys.names)
    if not whole or bucket.total_buckets <= 1 or not hashed_as_today(bucket, schema, schemas):
        return keys
    columns = [keys.values.column(name) for name in schema.bucket_keys]
    numbers = bucket_ids(columns, [f.type for f in schema.bucket_fields], bucket.total_buckets)
    return keys.where(pa.array(numbers == bucket.bucket))
