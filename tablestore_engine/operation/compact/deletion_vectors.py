"""Tables with deletion vectors: the rows of other files that a compaction replaces or removes, marked as deleted.

The keys of a file at level 0 are looked up when it is merged: in files above level 0 which are not merged with it, the
row of such a key is deleted from then on. So of each key at most one row above level 0 is not deleted, and readers take
these files one by one. Files at level 0 are newer than those above, whatever their sequence numbers are: their rows
win, or where the old row of a key counts (`TableSchema.merges_old_rows`), it is read from its position, and merged as
the oldest record, unless `sequence.field` says otherwise. At level 0, the write that began later is newer.
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
from tablestore_engine.operation.commit.index_change import BucketId, BucketVectors
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


class ReplacedRows:
    """The rows above level 0, in files that a task does not merge, whose keys its files of level 0 hold.

    Each is looked up once: where old rows count, when the files with its key are merged.
    """

    def __init__(self, task: CompactTask) -> None:
        self._task = task
        self._found: list[tuple[DataFileMeta, Positions]] = []

    def old_rows(self, files: Iterable[DataFileMeta], sizes: BatchSizes) -> list[Iterator[pa.RecordBatch]]:
        """The rows whose keys some merged files hold, if they count.

        They come as records in sequences that are sorted by key; of all of these, each key has one at most. Only the
        pages of these rows are read. Raises what `read_batches` raises.
        """
        task = self._task
        if not task.target.schema.merges_old_rows:
            return []
        target, columns = task.target, FileColumns(task.target.schema.field_names, RECORD_COLUMNS)
        by_level: dict[int, list[tuple[DataFileMeta, Positions]]] = {}
        for file, found in self._look_up(files):
            deleted = positions_in(target.io, task.deletions, file.file_name)
            positions = found if deleted is None else np.setdiff1d(found, deleted, assume_unique=True)
            if len(positions):
                by_level.setdefault(file.level, []).append((file, positions))

        def rows(file: DataFileMeta, positions: Positions) -> Iterator[pa.RecordBatch]:
            for batch in rows_at_positions(target.io, task.stored(file), target.schema, columns, positions):
                yield from (batch.slice(begin, sizes.rows) for begin in range(0, batch.num_rows, sizes.rows))

        types = [f.type for f in target.schema.trimmed_key_fields]
        # The files of a level share no key.
        levels = [sorted(found, key=lambda one: key_interval(one[0], types)[0]) for found in by_level.values()]
        return [chain.from_iterable(starmap(rows, found)) for found in levels]

    def vectors_after(self, entries: Sequence[ManifestEntry], name: str) -> dict[BucketId, BucketVectors]:
        """Write the deletion vectors that belong to the entries of the whole task, in a file with a unique name; none
        where files are not read alone, or nothing has changed.

        Raises:
            TableStoreError: a file cannot be read or written.
        """
        task, target = self._task, self._task.target
        if not target.schema.reads_files_alone or not entries:
            return {}
        if not target.schema.merges_old_rows:
            self._look_up(task.files)
        files = (*task.files, *task.rest)
        removed, added = (
            {e.file.file_name for e in entries if e.kind == kind} for kind in (FileKind.DELETE, FileKind.ADD)
        )
        live = {f.file_name for f in files} - removed | added
        kept = [name for name in task.deletions if name in live]
        vectors = dict(zip(kept, read_positions_of(target.io, [task.deletions[name] for name in kept]), strict=True))
        for file, positions in self._found:
            before = vectors.get(file.file_name)
            vectors[file.file_name] = positions if before is None else np.union1d(before, positions)
        bucket_id = (task.partition, task.bucket)
        file_name = target.paths.new_index_file_name(target.write_id, f"{name}v")
        changed = BucketVectors(
            entry=write_vectors(target, bucket_id, file_name, vectors) if vectors else None,
            files=frozenset(f.file_name for f in files if f.level > 0),
            ranges=indexed_ranges(task.deletions),
        )
        return {bucket_id: changed}

    def _look_up(self, merged: Iterable[DataFileMeta]) -> list[tuple[DataFileMeta, Positions]]:
        found = list(_superseded(self._task, merged))
        self._found += found
        return found


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
