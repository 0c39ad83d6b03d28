"""Reading one data file as Arrow batches in the shape of the current schema.

Columns, and fields of a ROW, are found through the schema that the file was written with, by field id: one that was
added later reads null, one that was renamed is found under its old name, one whose type was changed is cast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS, Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import format_of
from tablestore_engine.operation.files.cast_old_columns import evolved
from tablestore_engine.operation.files.deletion_vectors import kept_rows
from tablestore_engine.operation.files.lookup_rows import Longs, RowKeys
from tablestore_engine.operation.files.variants import ROOTS as VARIANTS
from tablestore_engine.operation.formats.file_format import DEFAULT_SIZES, BatchSizes
from tablestore_engine.operation.formats.file_formats import read_errors, read_stored
from tablestore_engine.operation.pages.page_lookup import find_positions, look_up, rows_at
from tablestore_engine.schema.casts.cast_old_columns import CastRules, ColumnCast, check_readable, is_same
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system_columns import VALUE_KIND, key_field
from tablestore_engine.schema.types.types import DataField, DataType, has_root
from tablestore_engine.storage.file_io import FileIO


@dataclass(frozen=True)
class StoredFile:
    """A data file: its path, its size in bytes, and the schema that it was written with."""

    path: str
    size: int
    schema: TableSchema


@dataclass(frozen=True)
class FileColumns:
    """Output columns: the table's `names`, and what is added: `RECORD_COLUMNS` of a keyed table, with `_KEY_` columns,
    or `COUNT_COLUMNS` of a retraction file."""

    names: tuple[str, ...]
    added: tuple[DataField, ...] = ()


def read_batches(
    io: FileIO,
    file: StoredFile,
    current: TableSchema,
    columns: FileColumns,
    sizes: BatchSizes = DEFAULT_SIZES,
    deleted: Positions | None = None,
) -> Iterator[pa.RecordBatch]:
    """Stream a file as rows of schema `current`.

    They come in batches of some sizes. Rows at the positions `deleted` are left out.

    Raises:
        CorruptDataError: the file is damaged; names it.
        StorageError: it cannot be read.
        UnsupportedTypeError: it holds a column in a type from which no cast leads to that of today.
        CastError: it holds a value that this cast does not take.
    """
    targets = _targets(file.schema, current, columns)
    stored = {one.source.name: to_arrow_type(one.source.type) for one in targets if one.source}
    position = 0
    for batch in read_stored(io, file.path, file.size, stored, sizes):
        kept = None if deleted is None else kept_rows(deleted, position, batch.num_rows)
        position += batch.num_rows
        yield _shape(batch if kept is None else batch.filter(pa.array(kept)), targets, current.cast_rules)


def read_rows_of_keys(
    io: FileIO,
    file: StoredFile,
    current: TableSchema,
    columns: FileColumns,
    keys: RowKeys,
    deleted: Positions | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows that `read_batches` would return and whose columns have values of the keys.

    Of a Parquet file with a page index, only pages are read that may hold a key, and of the columns that are no keys
    only pages that hold one. Raises what `read_batches` raises.
    """
    sought = _targets(file.schema, current, FileColumns(keys.names))
    if any(one.source is None for one in sought):
        return  # added after the file was written: null in all of its rows
    targets = _targets(file.schema, current, columns)
    if format_of(file.path) != "parquet" or not all(one.is_stored for one in sought):
        wanted = replace(columns, names=tuple(dict.fromkeys((*columns.names, *keys.names))))
        for batch in read_batches(io, file, current, wanted, deleted=deleted):
            wanted_rows = keys.positions_in(pa.Table.from_batches([batch]))
            yield batch.select([one.name for one in targets]).take(pa.array(wanted_rows))
        return
    values, positions_in = _sought(sought, keys)
    stored = sorted({one.source.name for one in targets if one.source})
    with read_errors(file.path), io.open_input(file.path) as handle:
        for positions, batch in look_up(handle, file.path, values, positions_in, stored):
            kept = None if deleted is None else ~np.isin(positions, deleted)
            yield _shape(batch if kept is None else batch.filter(pa.array(kept)), targets, current.cast_rules)


def rows_at_positions(
    io: FileIO, file: StoredFile, current: TableSchema, columns: FileColumns, positions: Positions
) -> Iterator[pa.RecordBatch]:
    """The rows that `read_batches` would return at ascending positions.

    Of a Parquet file with a page index, only pages are read that hold one. Raises what `read_batches` raises.
    """
    targets = _targets(file.schema, current, columns)
    stored = sorted({one.source.name for one in targets if one.source})
    if stored and format_of(file.path) == "parquet":
        with read_errors(file.path), io.open_input(file.path) as handle:
            for batch in rows_at(handle, file.path, positions, stored):
                yield _shape(batch, targets, current.cast_rules)
        return
    begin = 0
    for batch in read_batches(io, file, current, columns):
        low, high = np.searchsorted(positions, [begin, begin + batch.num_rows])
        if low < high:
            yield batch.take(pa.array(positions[low:high] - begin))
        begin += batch.num_rows


def positions_of_keys(io: FileIO, file: StoredFile, current: TableSchema, keys: RowKeys) -> Positions:
    """The positions of the rows whose columns have values of the keys, deleted or not. Raises as `read_batches`."""
    columns = FileColumns(keys.names)
    sought = _targets(file.schema, current, columns)
    floats = any(has_root(one.type, ("FLOAT", "DOUBLE")) for one in sought)  # bounds of pages do not include NaN
    if not floats and format_of(file.path) == "parquet" and all(one.is_stored for one in sought):
        values, positions_in = _sought(sought, keys)
        with read_errors(file.path), io.open_input(file.path) as handle:
            return _joined(find_positions(handle, file.path, values, positions_in))
    found, begin = [], 0
    for batch in read_batches(io, file, current, columns):
        found.append(begin + keys.positions_in(pa.Table.from_batches([batch])))
        begin += batch.num_rows
    return _joined(found)


def _joined(parts: Iterable[Longs]) -> Positions:
    return np.concatenate([NO_POSITIONS, *parts])


def _sought(targets: Sequence[_Target], keys: RowKeys) -> tuple[dict[str, pa.Array], Callable[[pa.Table], Longs]]:
    """The values of keys by the columns of a file that hold them, and what finds the keys in rows of these columns."""
    by = {one.source.name: one for one in targets if one.source}

    def positions_in(rows: pa.Table) -> Longs:
        named = {one.name: rows.column(name).cast(one.arrow) for name, one in by.items()}
        return keys.positions_in(pa.table(named))

    return {name: keys.distinct[one.name] for name, one in by.items()}, positions_in


def _targets(own: TableSchema, current: TableSchema, columns: FileColumns) -> list[_Target]:
    by_id = {f.id: f for f in own.fields}
    targets: list[_Target] = []
    for name in columns.names:
        field = current.field(name)
        targets.append(_target(field.name, by_id.get(field.id), field.type))
    if VALUE_KIND in columns.added:
        # The value column holds the same, also in files without `_KEY_` columns (thin mode).
        targets += [_target(key_field(f).name, by_id[f.id], f.type) for f in current.trimmed_key_fields]
    return targets + [_target(one.name, one, one.type) for one in columns.added]


@dataclass(frozen=True)
class _Target:
    """A column to make: its name and type, and the field of the file that it comes from (None: it is null there)."""

    name: str
    source: DataField | None
    type: DataType
    arrow: pa.DataType
    is_stored: bool  # as it is wanted


def _target(name: str, source: DataField | None, data_type: DataType) -> _Target:
    if source is not None:
        check_readable(name, source.type, data_type)
    is_stored = source is not None and is_same(source.type, data_type) and not has_root(data_type, VARIANTS)
    return _Target(name, source, data_type, to_arrow_type(data_type), is_stored)


def _shape(batch: pa.RecordBatch, targets: Sequence[_Target], rules: CastRules) -> pa.RecordBatch:
    arrays = []
    for one in targets:
        if one.source is None or one.source.name not in batch.schema.names:
            arrays.append(pa.nulls(batch.num_rows, one.arrow))
            continue
        array = batch.column(one.source.name)
        if not one.is_stored:
            array = evolved(array, one.source.type, one.type, ColumnCast(one.name, rules))
        arrays.append(array if array.type == one.arrow else array.cast(one.arrow))
    return pa.RecordBatch.from_arrays(arrays, names=[one.name for one in targets])
