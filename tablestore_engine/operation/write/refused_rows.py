"""Checks of rows before they are written: NOT NULL, duplicate primary keys, lengths of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import DuplicateKeyError, PrimaryKeyError, SchemaError
from tablestore_engine.mergetree.arrow_kernels.nested_leaves import leaves_of
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    has_root,
    with_nulls,
)

SHOWN_KEYS = 5
"""The most keys that a message about duplicates names."""
_SIZED = ("CHAR", "VARCHAR")
_SHOWN = 40  # characters of a value in a message


def check_not_null(rows: pa.Table | pa.RecordBatch, schema: TableSchema) -> None:
    """Raise for a null in a column, or a field inside of one, that is NOT NULL."""
    for column in schema.fields:
        _check_inside(rows.column(column.name), column)
        if column.type.nullable or rows.column(column.name).null_count == 0:
            continue
        if column.name in schema.primary_keys:
            raise PrimaryKeyError(
                f"Primary key column '{column.name}' has {rows.column(column.name).null_count} null value(s).",
                hint="Filter these rows out or give them a key.",
            )
        raise SchemaError(
            f"Column '{column.name}' is NOT NULL, but {rows.column(column.name).null_count} row(s) have no value."
        )


def _check_inside(values: pa.Array | pa.ChunkedArray, column: DataField) -> None:
    if column.type.is_atomic or column.type == with_nulls(column.type).as_nullable(column.type.nullable):
        return
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        for path, count in _nulls_inside(chunk, column.type):
            raise SchemaError(f"Column '{column.name}.{path}' is NOT NULL, but {count} row(s) have no value.")


def _nulls_inside(values: pa.Array, kind: DataType) -> Iterator[tuple[str, int]]:
    """The paths below values that are not null at which there are nulls where none may be, with their number."""
    there = values.drop_null()
    if isinstance(kind, RowType):
        parts = [(f.name, f.type, child) for f, child in zip(kind.fields, there.flatten(), strict=True)]
    elif isinstance(kind, ArrayType):
        parts = [("element", kind.element, there.flatten())]
    elif isinstance(kind, MapType):
        # A map that was filtered has the items of its own entries only.
        parts = [("value", kind.value, there.items)]
    else:
        return
    for name, inner, child in parts:
        if child.null_count and not inner.nullable:
            yield name, child.null_count
        yield from ((f"{name}.{path}", count) for path, count in _nulls_inside(child, inner))


def check_unique(job: WriteJob, find_repeated: Callable[[], pa.Table]) -> None:
    """If the job refuses repeated keys, find rows that repeat one, and raise a DuplicateKeyError that names the first
    keys of these.

    Such rows are found where rows are sorted (`write_task`), or routed (`cross_partition_keys`).
    """
    if not job.refuses_repeated:
        return
    repeated, schema = find_repeated(), job.schema
    if repeated.num_rows == 0:
        return
    sample = repeated.select(list(schema.primary_keys)).slice(0, SHOWN_KEYS).to_pylist()
    shown = "; ".join(", ".join(f"{k}={v!r}" for k, v in key.items()) for key in sample)
    ordered = ", or name a column that orders them ('sequence.field'; sequence_field in dbt)"
    raise DuplicateKeyError(
        f"Duplicate primary key in the rows to write: {shown}.",
        hint=f"Keep one row per ({', '.join(schema.primary_keys)}){'' if schema.crosses_partitions else ordered}.",
    )


def check_lengths(rows: pa.Table, schema: TableSchema) -> None:
    """Raise a SchemaError for a text that is longer than its column, of type CHAR or VARCHAR, allows."""
    for field in schema.fields:
        if has_root(field.type, _SIZED):
            for chunk in rows.column(field.name).chunks:
                for kind, texts in leaves_of(chunk, field.type):
                    _check_length(field, kind, texts)


def _check_length(field: DataField, kind: AtomicType, texts: pa.Array) -> None:
    if kind.root not in _SIZED:
        return
    lengths = pc.utf8_length(texts)
    longest = pc.max(lengths).as_py()
    if longest is not None and longest > (kind.precision or 1):
        text = texts.filter(pc.equal(lengths, longest))[0].as_py()
        shown = text if longest <= _SHOWN else text[:_SHOWN] + "…"
        inside = "" if field.type.is_atomic else " inside"
        raise SchemaError(
            f"Column '{field.name}' has the type {kind.as_nullable(True)}{inside}, and a value has "
            f"{longest} characters: '{shown}'.",
            hint=f"Cut it, for example by left({field.name}, {kind.precision}), or use a STRING.",
        )
