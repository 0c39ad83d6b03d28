"""Compaction of one bucket: streams the rows of some runs through the merge into new files.

A *task* is a frozen description that travels to an executor; executing it changes no metadata. Its result names
files to remove and to add, which the driver commits as one COMPACT snapshot. A file that overlaps no other
is not rewritten if it is big enough and holds no delete that must be dropped: it is *upgraded* to the new level.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.compaction.sections import Section, packed, sections
from tablestore_engine.mergetree.merge.fold_records import reducer
from tablestore_engine.mergetree.merge.merge_runs import (
    Reduce,
    SortColumn,
    merge_sorted,
    sort_stable,
)
from tablestore_engine.mergetree.merge.sequence import sequence_columns
from tablestore_engine.mergetree.merge.sequence_group_deletes import OlderRows
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_COMPACT, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.compact.compact_multiset_bucket import compact_multiset
from tablestore_engine.operation.compact.compact_task import Compacted, CompactTask, Files, casts_values
from tablestore_engine.operation.compact.deletion_vectors import ReplacedRows
from tablestore_engine.operation.compact.older_rows import (
    first_stays,
    needs_all_runs,
    of_new_keys,
    older_rows,
    overlapping,
)
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.files.rolling_writer import BucketFiles, RollingWriter
from tablestore_engine.operation.formats.file_format import BATCH_ROWS, BatchSizes
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND, key_field

MOST_SEQUENCES = 128
"""Sequences of files that are merged at once; more are merged in several passes, each file being open and in memory."""
_FULL_BATCHES = 2
_LEAST_ROWS = 1_024
_MERGED_BYTES = 32 << 20  # of rows, over all sequences; those of a window are copied when they are sorted
_READ_AHEAD_BYTES, _LEAST_AHEAD = 8 << 20, 64 << 10  # of a column, over all sequences; of one
_LEAST_BYTES = 64 << 10


def run_compaction(task: CompactTask, task_name: str) -> Compacted:
    """Execute a task; on failure its new files are removed."""
    if not task.target.schema.primary_keys:
        if any(is_retraction(f) for f in task.files):
            return Compacted(compact_multiset(task, task_name))
        return Compacted(_concatenate(task, task_name))
    try:
        return _merge_keyed(task.of_bucket() if needs_all_runs(task) else task, task_name)
    except ExecutionError:
        schema = task.target.schema
        if not task.rest or schema.reads_files_alone or not schema.merge_engine.may_outgrow:
            raise
    return _merge_keyed(task.of_bucket(), f"{task_name}b")


def _merge_keyed(task: CompactTask, task_name: str) -> Compacted:
    schema = task.target.schema
    replaced = ReplacedRows(task)
    writer = _writer(task, task_name)
    removed: list[DataFileMeta] = []
    added: list[DataFileMeta] = []
    try:
        for section in sections(task.files, [f.type for f in schema.trimmed_key_fields]):
            if _can_upgrade(task, section):
                writer.roll()  # a file must not span the key interval of a file that it does not contain
                file = section.files[0]
                if file.level != task.output.level:
                    removed.append(file)
                    added.append(file.upgrade(task.output.level))
                continue
            removed.extend(section.files)
            for table in _merged(task, section, task_name, replaced):
                writer.write(of_new_keys(task, table) if first_stays(task) else table)
        added.extend(writer.close())
        entries = _entries(task, removed, added)
        return Compacted(entries, replaced.vectors_after(entries, task_name))
    except BaseException:
        writer.abort()
        raise


def _can_upgrade(task: CompactTask, section: Section) -> bool:
    """One big file that overlaps nothing and holds no delete, nor a deleted row, that this compaction must drop."""
    if len(section.files) != 1:
        return False
    file = section.files[0]
    if file.file_name in task.deletions or (_others_count(task, file) and overlapping(task, file)):
        return False
    settles = task.target.schema.merge_engine.settles_retractions
    if (task.output.drop_deletes or settles) and file.delete_row_count != 0:
        return False
    options = task.target.schema.core_options
    rewrites = options.force_rewrite_all_files or casts_values(task.stored(file).schema, task.target.schema)
    if rewrites and task.output.level >= options.num_levels - 1:
        return False
    big_enough = file.file_size >= options.target_file_size // 2
    return big_enough or len(task.files) == 1


def _others_count(task: CompactTask, file: DataFileMeta) -> bool:
    """Whether a record of a key in a file that is not merged may change what becomes of those of this file."""
    return first_stays(task) or (file.level == 0 and task.target.schema.merges_old_rows)


def _merged(task: CompactTask, section: Section, task_name: str, replaced: ReplacedRows) -> Iterator[pa.Table]:
    schema = task.target.schema
    oldest_first = packed(section.runs, [f.type for f in schema.trimmed_key_fields])[::-1]
    in_passes = len(oldest_first) > MOST_SEQUENCES
    between: list[RollingWriter] = []
    try:
        while len(oldest_first) > MOST_SEQUENCES:
            groups = [oldest_first[i : i + MOST_SEQUENCES] for i in range(0, len(oldest_first), MOST_SEQUENCES)]
            oldest_first = [
                _pass(task, group, f"{task_name}m", between) if len(group) > 1 else group[0] for group in groups
            ]
        reduce = _reducer(schema, older_rows(task))
        for table in _merge(
            task, oldest_first, reduce, always=in_passes, old_rows=partial(replaced.old_rows, section.files)
        ):
            yield _without_deletes(table) if task.output.drop_deletes else table
    finally:
        for writer in between:
            writer.abort()


def _pass(task: CompactTask, oldest_first: Sequence[Files], name: str, between: list[RollingWriter]) -> Files:
    """Merge some of too many sequences into temporary files, kept in `between` until all are merged.

    If only one row of a key is kept, the order of merging does not matter. A fold may need all records of a key at
    once: these are only merged into one sequence, unchanged.
    """
    schema = task.target.schema
    one_stays = schema.merge_engine.rules.keeps_one_record
    columns = [*(SortColumn(key) for key in _keys(schema)), *_order(schema)]
    reduce = _reducer(schema) if one_stays else partial(sort_stable, columns=columns)
    writer = _writer(task, f"{name}{len(between)}-")
    between.append(writer)
    for table in _merge(task, oldest_first, reduce):
        writer.write(table)
    return tuple(writer.close())


def _merge(
    task: CompactTask,
    oldest_first: Sequence[Files],
    reduce: Reduce,
    *,
    always: bool = False,
    old_rows: Callable[[BatchSizes], list[Iterator[pa.RecordBatch]]] | None = None,
) -> Iterator[pa.Table]:
    """Merge sequences of files; before them the rows that keys of theirs had."""
    schema = task.target.schema
    rows, size = batch_rows(len(oldest_first)), max(_LEAST_BYTES, _MERGED_BYTES // len(oldest_first))
    ahead = max(_LEAST_AHEAD, _READ_AHEAD_BYTES // len(oldest_first))
    sizes = BatchSizes(rows, size, ahead)
    older = old_rows(sizes) if old_rows is not None else []
    batches = [*older, *(_batches(task, files, sizes) for files in oldest_first)]
    retracts = any(f.delete_row_count != 0 for files in oldest_first for f in files)
    settle = retracts and schema.merge_engine.settles_retractions
    return merge_sorted(batches, _keys(schema), reduce, always=always or settle)


def _reducer(schema: TableSchema, older: OlderRows | None = None) -> Reduce:
    return reducer(_keys(schema), _order(schema), schema.merge_engine, older)


def _keys(schema: TableSchema) -> list[str]:
    return [key_field(f).name for f in schema.trimmed_key_fields]


def _order(schema: TableSchema) -> list[SortColumn]:
    """The columns that order the records of a key; equal ones are in the order of their runs.

    With deletion vectors, sequence numbers do not matter: what is merged later is newer, whenever its write began.
    """
    numbers = [] if schema.reads_files_alone else [SortColumn(SEQUENCE_NUMBER.name)]
    return [*sequence_columns(schema), *numbers]


def _without_deletes(table: pa.Table) -> pa.Table:
    alive = pc.equal(pc.bit_wise_and(table.column(VALUE_KIND.name), 1), 0)
    return table if pc.all(alive).as_py() else table.filter(alive)


def batch_rows(sequences: int) -> int:
    """Rows to hold of each merged sequence, unless rows are wide: a few full batches in total."""
    return max(_LEAST_ROWS, min(BATCH_ROWS, _FULL_BATCHES * BATCH_ROWS // max(sequences, 1)))


def _batches(task: CompactTask, files: Files, sizes: BatchSizes) -> Iterator[pa.RecordBatch]:
    target = task.target
    columns = FileColumns(target.schema.field_names, RECORD_COLUMNS)
    return itertools.chain.from_iterable(
        read_batches(
            target.io,
            task.stored(f),
            target.schema,
            columns,
            sizes,
            positions_in(target.io, task.deletions, f.file_name),
        )
        for f in files
    )


def _concatenate(task: CompactTask, task_name: str) -> list[ManifestEntry]:
    """Append tables: rewrite files one after the other, in the order they were written, without deleted rows."""
    target = task.target
    writer = _writer(task, task_name)
    try:
        for file in task.files:
            columns = FileColumns(target.schema.field_names)
            deleted = positions_in(target.io, task.deletions, file.file_name)
            for batch in read_batches(target.io, task.stored(file), target.schema, columns, deleted=deleted):
                writer.write(pa.Table.from_batches([batch]))
        return _entries(task, list(task.files), writer.close())
    except BaseException:
        writer.abort()
        raise


def _writer(task: CompactTask, task_name: str) -> RollingWriter:
    files = BucketFiles(task.partition_path, task.bucket, task.output.level, FILE_SOURCE_COMPACT)
    return RollingWriter(task.target, files, task_name)


def _entries(task: CompactTask, removed: list[DataFileMeta], added: list[DataFileMeta]) -> list[ManifestEntry]:
    def entry(kind: FileKind, file: DataFileMeta) -> ManifestEntry:
        return ManifestEntry(kind, task.partition, task.bucket, task.total_buckets, file)

    return [*(entry(FileKind.DELETE, f) for f in removed), *(entry(FileKind.ADD, f) for f in added)]
