"""The positions of those records of merging files that a read leaves out: a newer record has their key, or they delete.

Files never change, so what they supersede in one another does not either: it is computed once per process, and every
later read of the snapshot tests the positions of rows, which costs much less than to look up their keys. Keys are read
here, so there are limits to how many.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.mergetree.compaction.sections import Section
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import FileColumns, positions_of_keys, read_batches
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.scan.scan_plan import BucketScan, stored_file
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.types.types import has_root
from tablestore_engine.table_state import TableState

MOST_ROWS = 32_000_000
"""Rows of all files together, whose keys are read."""
MOST_NEWER_ROWS = 2_000_000
_MOST_POSITIONS = 4_000_000
_FEW_ROWS = 100_000  # that one thread reads
_FLOATS = ("FLOAT", "DOUBLE")
_Mask = npt.NDArray[np.bool_]

_known: RecentlyUsed[Hashable, Mapping[str, Positions]] = RecentlyUsed(
    _MOST_POSITIONS, lambda found: 100 + sum(len(one) for one in found.values())
)
"""By the files of a section."""


def superseded_rows(
    state: TableState, schema: TableSchema, merging: Sequence[tuple[BucketScan, Section]]
) -> Mapping[str, Positions] | None:
    """The positions by names of files, of sections in which every record is newer than those of the last run.

    None where that is not known: a table whose newest record of a key is not its row, or sections of too many rows.

    Raises:
        CorruptDataError, StorageError: a file cannot be read.
    """
    if not _is_newest(schema) or any(bucket.deletions for bucket, _ in merging):
        return None
    files = [file for _, section in merging for file in section.files]
    newer = sum(file.row_count for _, section in merging for run in section.runs[:-1] for file in run.files)
    rows = sum(file.row_count for file in files)
    if rows > MOST_ROWS or newer > MOST_NEWER_ROWS or any(file.format != "parquet" for file in files):
        return None

    def found(one: tuple[BucketScan, Section]) -> Mapping[str, Positions] | None:
        key = (state.paths.root, schema.id, tuple(file.file_name for file in one[1].files))
        known = _known.get(key)
        if known is None:
            known = _of_section(state, schema, *one)
            if known is not None:
                _known.put(key, known)
        return known

    if rows <= _FEW_ROWS or len(merging) == 1:
        parts = list(map(found, merging))
    else:
        with ThreadPoolExecutor(min(pa.cpu_count(), len(merging)), "tablestore-superseded") as threads:
            parts = list(threads.map(found, merging))
    known = [one for one in parts if one is not None]
    return {name: rows for one in known for name, rows in one.items()} if len(known) == len(parts) else None


def _is_newest(schema: TableSchema) -> bool:
    """Whether the row of a key is its newest record, of which the key can be compared here."""
    newest = schema.merge_engine.rules.kept is Kept.NEWEST and not schema.core_options.sequence_field
    return newest and not any(has_root(field.type, _FLOATS) for field in schema.trimmed_key_fields)


def _of_section(
    state: TableState, schema: TableSchema, bucket: BucketScan, section: Section
) -> Mapping[str, Positions] | None:
    *above, last = section.runs
    newer = [file for run in reversed(above) for file in run.files]
    names = schema.trimmed_primary_keys
    tables = [_records(state, schema, bucket, file, names) for file in newer]
    records = pa.concat_tables(tables)
    keys = RowKeys(records.select(names))
    hidden = _hidden(records, keys)
    if hidden is None:
        return None
    ends = np.cumsum([0, *(one.num_rows for one in tables)])
    parts = (np.flatnonzero(hidden[begin:end]) for begin, end in pairwise(ends))
    found = {file.file_name: rows for file, rows in zip(newer, parts, strict=True)}
    for file in last.files:
        rows = positions_of_keys(state.io, stored_file(state, bucket, file), schema, keys)
        if file.delete_row_count != 0:
            kinds = _records(state, schema, bucket, file, ()).column(VALUE_KIND.name)
            rows = np.union1d(rows, np.flatnonzero(_deletes(kinds)))
        found[file.file_name] = rows
    return {name: rows for name, rows in found.items() if len(rows)}


def _hidden(records: pa.Table, keys: RowKeys) -> _Mask | None:
    """For each record, the oldest first, whether it is not the row of its key; None where keys are not numbered."""
    numbers = keys.row_numbers
    if numbers is None:
        return None
    order = np.lexsort((records.column(SEQUENCE_NUMBER.name).to_numpy(), numbers))
    ordered = numbers[order]
    newest = order[np.append(ordered[1:] != ordered[:-1], True)]
    hidden = np.ones(records.num_rows, np.bool_)
    hidden[newest] = _deletes(records.column(VALUE_KIND.name))[newest]
    return hidden


def _deletes(kinds: pa.ChunkedArray) -> _Mask:
    """For each record whether it takes its row back."""
    found: _Mask = np.bitwise_and(kinds.to_numpy(), 1) == 1
    return found


def _records(
    state: TableState, schema: TableSchema, bucket: BucketScan, file: DataFileMeta, names: tuple[str, ...]
) -> pa.Table:
    """Columns of the records of a file, with their sequence number and row kind."""
    shape = pa.schema(
        [(name, to_arrow_type(schema.field(name).type)) for name in names]
        + [(one.name, to_arrow_type(one.type)) for one in RECORD_COLUMNS]
    )
    batches = read_batches(state.io, stored_file(state, bucket, file), schema, FileColumns(names, RECORD_COLUMNS))
    return pa.Table.from_batches([one.select(shape.names) for one in batches], shape)
