"""Tables with deletion vectors: the rows of other files that a compaction replaces or removes, marked as deleted.

The keys of a file at level 0 are looked up when it is merged: in files above level 0 which are not merged with it, the
row of such a key is deleted from then on. So of each key at most one row above level 0 is not deleted, and readers take
these files one by one. Files at level 0 are always newer than those above, so later rows win; where the old row of a
key counts (`TableSchema.merges_old_rows`), it is read from its position, and merged as the oldest record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, starmap

import numpy as np
import pyarrow as pa

from tablestore_engine.mergetree.compaction.sections import key_interval
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.commit.index_change import BucketVectors, IndexChange
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.files.data_file_reader import (
    FileColumns,
    positions_of_keys,
    read_batches,
    rows_at_positions,
)
from tablestore_engine.operation.files.deletion_vectors import (
    indexed_ranges,
    positions_in,
    read_positions_of,
    write_vectors,
)
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.formats.file_format import BatchSizes
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS


def vectors_after(tasks: Sequence[CompactTask], entries: Iterable[ManifestEntry]) -> IndexChange:
    """Write the deletion vectors that belong to the entries of some tasks.

    Raises:
        TableStoreError: a file cannot be read or written; files of the write may be left.
    """
    changed: dict[tuple[bytes, int], tuple[set[str], set[str]]] = {}
    for entry in entries:
        names = changed.setdefault((entry.partition, entry.bucket), (set(), set()))
        names[entry.kind == FileKind.ADD].add(entry.file.file_name)
    found = {}
    for number, task in enumerate(tasks):
        bucket_id = (task.partition, task.bucket)
        if bucket_id in changed:
            removed, added = changed[bucket_id]
            found[bucket_id] = _of_bucket(task, removed, added, f"v{number}")
    return IndexChange(vectors=found)


def old_rows(task: CompactTask, files: Iterable[DataFileMeta], sizes: BatchSizes) -> list[Iterator[pa.RecordBatch]]:
    """The rows above level 0, in files that a task does not merge, whose keys some merged files of level 0 hold:
    records in sequences that are sorted by key, of all of which each key has one at most.

    Only the pages of these rows are read. Raises what `read_batches` raises.
    """
    if not task.target.schema.merges_old_rows:
        return []
    target, columns = task.target, FileColumns(task.target.schema.field_names, RECORD_COLUMNS)
    by_level: dict[int, list[tuple[DataFileMeta, Positions]]] = {}
    for file, found in _superseded(task, files):
        deleted = positions_in(target.io, task.deletions, file.file_name)
        positions = found if deleted is None else np.setdiff1d(found, deleted, assume_unique=True)
        if len(positions):
            by_level.setdefault(file.level, []).append((file, positions))

    def rows(file: DataFileMeta, positions: Positions) -> Iterator[pa.RecordBatch]:
        for part in np.split(positions, range(sizes.rows, len(positions), sizes.rows)):
            yield from rows_at_positions(target.io, task.stored(file), target.schema, columns, part)

    types = [f.type for f in target.schema.trimmed_key_fields]
    # The files of a level share no key.
    levels = [sorted(found, key=lambda one: key_interval(one[0], types)[0]) for found in by_level.values()]
    return [chain.from_iterable(starmap(rows, found)) for found in levels]


def _of_bucket(task: CompactTask, removed: set[str], added: set[str], number: str) -> BucketVectors:
    target = task.target
    files = (*task.files, *task.rest)
    live = {f.file_name for f in files} - removed | added
    kept = [name for name in task.deletions if name in live]
    vectors = dict(zip(kept, read_positions_of(target.io, [task.deletions[name] for name in kept]), strict=True))
    for file, positions in _superseded(task, task.files):
        name = file.file_name
        vectors[name] = np.union1d(vectors[name], positions) if name in vectors else positions
    name = target.paths.new_index_file_name(target.write_id, number)
    return BucketVectors(
        entry=write_vectors(target, (task.partition, task.bucket), name, vectors) if vectors else None,
        files=frozenset(f.file_name for f in files if f.level > 0),
        ranges=indexed_ranges(task.deletions),
    )


def _superseded(task: CompactTask, merged: Iterable[DataFileMeta]) -> Iterable[tuple[DataFileMeta, Positions]]:
    """The files that stay and hold a key of a merged file of level 0, with the positions of these keys, deleted or
    not."""
    target, schema = task.target, task.target.schema
    types = [f.type for f in schema.trimmed_key_fields]
    fresh = [f for f in merged if f.level == 0]
    spans = [key_interval(f, types) for f in fresh]
    keys: RowKeys | None = None
    for file in task.rest:
        low, high = key_interval(file, types)
        if file.level == 0 or not any(low <= last and first <= high for first, last in spans):
            continue
        keys = keys or _keys_of(task, fresh)
        positions = positions_of_keys(target.io, task.stored(file), schema, keys)
        if len(positions):
            yield file, positions


def _keys_of(task: CompactTask, files: Iterable[DataFileMeta]) -> RowKeys:
    schema = task.target.schema
    columns = FileColumns(schema.trimmed_primary_keys)
    kinds = pa.schema([(f.name, to_arrow_type(f.type)) for f in schema.trimmed_key_fields])
    batches = [
        batch.cast(kinds)
        for file in files
        for batch in read_batches(
            task.target.io,
            task.stored(file),
            schema,
            columns,
            deleted=positions_in(task.target.io, task.deletions, file.file_name),
        )
    ]
    return RowKeys(pa.Table.from_batches(batches, kinds))
