"""Compaction of one bucket of a multiset table: applies retractions to plain files.

A plain file that is small, or that contains a retracted row, is rewritten. Every other one is kept; if its statistics
do not decide this, it is read once. Retractions that remain, because their rows are in other files, become a retraction
file again; if there are no other files, this is an error.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pyarrow as pa

from tablestore_engine.mergetree.compaction.pick_small_files import is_small
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.mergetree.multiset.retractions import Part, Retractions, parts_for, retractions_of
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_COMPACT, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches
from tablestore_engine.operation.files.rolling_writer import BucketFiles, RollingWriter
from tablestore_engine.operation.scan.multiset_file_overlap import overlapping_with
from tablestore_engine.schema.types.system_columns import COUNT_COLUMNS
from tablestore_engine.schema.types.types import DataField


def compact_multiset(task: CompactTask, task_name: str) -> list[ManifestEntry]:
    """Execute a task that has retraction files. Returns DELETE and ADD entries; on failure its new files are removed.

    Raises:
        NegativeCountError: the task has all files, and a row was removed more often than it was added.
    """
    return _Cancellation(task, task_name).run()


class _Cancellation:
    def __init__(self, task: CompactTask, task_name: str) -> None:
        self._task = task
        self._name = task_name
        self._fields = task.target.schema.fields
        self._retraction_files = [f for f in task.files if is_retraction(f)]
        self._plain = [f for f in task.files if not is_retraction(f)]
        self._parts = parts_for(sum(f.row_count for f in self._retraction_files))
        # A single part is read once; of several, one is in memory at a time.
        self._held: Retractions | None = None

    def run(self) -> list[ManifestEntry]:
        rewritten = self._to_rewrite()
        kept = self._writer(self._name)
        left = self._writer(f"{self._name}r", retractions=True)
        try:
            for part in self._parts:
                retractions = self._retractions(part)
                for file in rewritten:
                    for rows in self._rows(file):
                        kept.write(retractions.cancel(part.of(rows, self._fields)))
                if self._task.output.drop_deletes:
                    retractions.check_done(self._task.target.paths.table_name)
                rest = retractions.rest()
                if rest is not None:
                    left.write(rest)
            added = [*kept.close(), *left.close()]
        except BaseException:
            kept.abort()
            left.abort()
            raise
        return [
            *(self._entry(FileKind.DELETE, f) for f in (*rewritten, *self._retraction_files)),
            *(self._entry(FileKind.ADD, f) for f in added),
        ]

    def _to_rewrite(self) -> list[DataFileMeta]:
        """The plain files that are small or may contain retracted rows."""
        schema = self._task.target.schema
        size, rows = schema.core_options.target_file_size, schema.core_options.target_file_row_num
        chosen = {f.file_name for f in self._plain if is_small(f, size, rows)}
        may_overlap = overlapping_with(self._retraction_files, schema, self._task.schemas.__getitem__)
        doubtful = [f for f in self._plain if may_overlap(f)]
        for part in self._parts:
            large = [f for f in doubtful if f.file_name not in chosen]
            if not large:
                break
            retractions = self._retractions(part)
            chosen |= {f.file_name for f in large if self._overlaps(f, part, retractions)}
        return [f for f in self._plain if f.file_name in chosen]

    def _overlaps(self, file: DataFileMeta, part: Part, retractions: Retractions) -> bool:
        return any(retractions.any_match(part.of(rows, self._fields)) for rows in self._rows(file))

    def _retractions(self, part: Part) -> Retractions:
        if self._held is not None:
            return self._held
        taken = itertools.chain.from_iterable(self._batches(f, COUNT_COLUMNS) for f in self._retraction_files)
        found = retractions_of(taken, self._fields, part)
        if len(self._parts) == 1:
            self._held = found
        return found

    def _rows(self, file: DataFileMeta) -> Iterator[pa.Table]:
        return (pa.Table.from_batches([batch]) for batch in self._batches(file))

    def _batches(self, file: DataFileMeta, added: tuple[DataField, ...] = ()) -> Iterator[pa.RecordBatch]:
        task, target = self._task, self._task.target
        columns = FileColumns(target.schema.field_names, added)
        return read_batches(target.io, task.stored(file), target.schema, columns)

    def _writer(self, name: str, *, retractions: bool = False) -> RollingWriter:
        task = self._task
        files = BucketFiles(task.partition_path, task.bucket, task.output.level, FILE_SOURCE_COMPACT, retractions)
        return RollingWriter(task.target, files, name)

    def _entry(self, kind: FileKind, file: DataFileMeta) -> ManifestEntry:
        task = self._task
        return ManifestEntry(kind, task.partition, task.bucket, task.total_buckets, file)
