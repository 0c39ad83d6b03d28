"""Reading one data file as Arrow batches in the shape of the current schema.

Columns, and fields of a ROW, are found through the schema that the file was written with, by field id: one that was
added later reads null, one that was renamed is found under its old name, one whose type was changed is cast.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from tablestore_engine.errors import CorruptDataError, StorageError
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.operation.files.batch_size import fixed_width
from tablestore_engine.operation.files.deletion_vectors import kept_rows
from tablestore_engine.operation.files.evolve import evolved
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.evolution import CastRules, ColumnCast, check_readable, is_same
from tablestore_engine.schema.types.system import COUNT, SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.schema.types.types import DataField, DataType
from tablestore_engine.storage.file_io import FileIO

BATCH_ROWS = 65_536
BATCH_BYTES = 16 << 20
_OFFSET = 4  # bytes of the offset of a value of variable width


@dataclass(frozen=True)
class FileColumns:
    """Output columns: the table's `names`; with `system` the system columns of a keyed table; with `counts` the counts
    of a retraction file.
    """

    names: tuple[str, ...]
    system: bool = False
    counts: bool = False


@dataclass(frozen=True)
class BatchSizes:
    """At most so many rows come at a time, of about so many bytes in memory.

    With `read_ahead_bytes` no more than that of a column is read ahead, else all of a row group.
    """

    rows: int = BATCH_ROWS
    bytes: int = BATCH_BYTES
    read_ahead_bytes: int | None = None


def read_batches(
    io: FileIO,
    path: str,
    own: TableSchema,
    current: TableSchema,
    columns: FileColumns,
    sizes: BatchSizes = BatchSizes(),
    deleted: Positions | None = None,
) -> Iterator[pa.RecordBatch]:
    """Stream a file that was written with schema `own` as rows of schema `current`.

    They come in batches of some sizes. Rows at the positions `deleted` are left out.

    Raises:
        CorruptDataError: the file is damaged; names it.
        StorageError: it cannot be read.
        UnsupportedTypeError: it holds a column in a type from which no cast leads to that of today.
        CastError: it holds a value that this cast does not take.
    """
    by_id = {f.id: f for f in own.fields}
    targets: list[_Target] = []
    rules = current.cast_rules
    for name in columns.names:
        field = current.field(name)
        targets.append(_target(field.name, by_id.get(field.id), field.type))
    if columns.system:
        # The value column holds the same, also in files without `_KEY_` columns (thin mode).
        targets += [_target(key_field(f).name, by_id[f.id], f.type) for f in current.trimmed_key_fields]
        targets += [_target(one.name, one, one.type) for one in (SEQUENCE_NUMBER, VALUE_KIND)]
    if columns.counts:
        targets.append(_target(COUNT.name, COUNT, COUNT.type))
    kinds = {one.source.name: one.arrow for one in targets if one.source}
    try:
        with io.open_input(path) as handle:
            ahead = sizes.read_ahead_bytes
            buffered = {"buffer_size": ahead, "pre_buffer": False} if ahead else {}
            file = pq.ParquetFile(handle, **buffered)
            position = 0
            # One row group at a time: Arrow would hold what it has read of all of them until the last.
            widest = 1
            for number in range(file.num_row_groups):
                # A value that is repeated takes less room in the file than in memory: the last row group shows how
                # much.
                widest = max(widest, row_bytes(file.metadata.row_group(number), kinds))
                size = max(1, min(sizes.rows, sizes.bytes // widest))
                for batch in file.iter_batches(batch_size=size, columns=list(kinds), row_groups=[number]):
                    widest = max(widest, batch.nbytes // max(batch.num_rows, 1))
                    kept = None if deleted is None else kept_rows(deleted, position, batch.num_rows)
                    position += batch.num_rows
                    yield _shape(batch if kept is None else batch.filter(pa.array(kept)), targets, rules)
    except pa.ArrowInvalid as error:
        raise CorruptDataError(path, f"it is not a readable Parquet file ({error})") from error
    except OSError as error:
        if error.errno is not None:
            raise StorageError.of(path, error) from error
        # So Arrow speaks of pages that it cannot decode.
        raise CorruptDataError(path, f"it is not a readable Parquet file ({error})") from error


def row_bytes(group: pq.RowGroupMetaData, kinds: Mapping[str, pa.DataType]) -> int:
    """About what a row takes in memory, of the columns of a row group that are given with their types.

    For texts and nested values the footer has the bytes in the file, before compression.
    """
    widths = {name: fixed_width(kind) for name, kind in kinds.items()}
    fixed = sum(_OFFSET if width is None else width for width in widths.values())
    varying = [name for name, width in widths.items() if width is None]
    chunks = (group.column(i) for i in range(group.num_columns)) if varying else ()
    encoded = sum(c.total_uncompressed_size for c in chunks if _is_of(c.path_in_schema, varying))
    return int(fixed + encoded // max(group.num_rows, 1))


def _is_of(path: str, names: Collection[str]) -> bool:
    """Whether a leaf of the file belongs to one of some columns."""
    while path and path not in names:
        path = path.rpartition(".")[0]
    return bool(path)


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
    is_stored = source is not None and is_same(source.type, data_type)
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
