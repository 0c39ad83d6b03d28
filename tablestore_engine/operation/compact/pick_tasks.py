"""Which buckets of a table to compact, and into what: from live files to compaction tasks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum, auto

from tablestore_engine.mergetree.compaction.levels import highest_level, sorted_runs
from tablestore_engine.mergetree.compaction.pick_runs import (
    CompactionUnit,
    UniversalOptions,
    pick,
    pick_full,
    pick_unmerged,
    unit_of,
)
from tablestore_engine.mergetree.compaction.pick_small_files import pick_all_small, pick_small
from tablestore_engine.mergetree.multiset.multiset import is_retraction, pick_multiset, pick_whole_multiset
from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.compact.compact_task import CompactTask, Files, casts_values
from tablestore_engine.operation.files.deletion_vectors import Deletions
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import has_root
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

_PART_FILES = 4
"""The least target file sizes in a task, where files with deleted rows make several: only its last file is a small
one."""


class Extent(Enum):
    """How much a compaction merges."""

    DUE = auto()
    """As the thresholds require."""
    UNMERGED = auto()
    """The same, and files at level 0 whatever the thresholds are."""
    FULL = auto()
    """All runs of every bucket."""


def universal_options(schema: TableSchema) -> UniversalOptions:
    """The thresholds that the table's options set."""
    options = schema.core_options
    alone = schema.reads_files_alone  # some runs merge with the old row of each of their keys
    return UniversalOptions(
        run_trigger=options.num_sorted_runs_compaction_trigger,
        max_size_amplification_percent=options.max_size_amplification_percent,
        size_ratio=options.size_ratio,
        num_levels=options.num_levels,
        keep_deletes=schema.keeps_deletes,
        settle_together=not alone and schema.merge_engine.stores_retractions and not _looks_rows_up(schema),
        from_oldest=not alone and (schema.merge_engine.folds_in_order or schema.holds_whole_records),
        optimization_interval_millis=options.optimization_interval_millis,
        total_size_threshold=options.total_size_threshold,
        incremental_size_threshold=options.incremental_size_threshold,
        rewrite_all=options.force_rewrite_all_files,
    )


def pick_tasks(
    buckets: Iterable[BucketScan],
    target: WriteTarget,
    schemas: SchemaStore,
    extent: Extent = Extent.DUE,
) -> list[CompactTask]:
    """The tasks of each bucket that needs some; several only where many rows of an append table are marked as deleted.

    The current time is that of the target, at which the compaction began.
    """
    tasks = []
    for bucket in buckets:
        to = knowing(target, bucket.files, schemas)
        cast = _cast_files(bucket.files, to.schema, schemas) if extent is Extent.FULL else frozenset()
        if to.schema.primary_keys:
            unit = _keyed_unit(bucket, to.schema, extent, to.creation_time_millis, has_casts=bool(cast))
            units = [] if unit is None else [unit]
        else:
            units = _append_units(bucket, to.schema, extent, cast)
        tasks += [task_of(bucket, one, to, schemas) for one in units]
    return tasks


def _cast_files(files: Iterable[DataFileMeta], schema: TableSchema, schemas: SchemaStore) -> frozenset[str]:
    """The names of files whose values are cast when they are read: a full compaction stores the results."""
    cast = {i for i in {f.schema_id for f in files} - {schema.id} if casts_values(schemas.load(i), schema)}
    return frozenset(f.file_name for f in files if f.schema_id in cast)


def knowing(target: WriteTarget, files: Iterable[DataFileMeta], schemas: SchemaStore) -> WriteTarget:
    """A target whose schema has all columns of some live files.

    Others may have added a column and written to it after the table was loaded: a merge must keep it.
    """
    newest = max((f.schema_id for f in files), default=target.schema.id)
    return target if newest <= target.schema.id else replace(target, schema=schemas.load(newest))


def task_of(bucket: BucketScan, unit: CompactionUnit, target: WriteTarget, schemas: SchemaStore) -> CompactTask:
    """The task that executes a merge in a bucket."""
    files = tuple(f for run in unit.runs for f in run.files)
    rest = rest_of(target.schema, files, bucket.files)
    return CompactTask(
        target=target,
        schemas={i: schemas.load(i) for i in {f.schema_id for f in (*files, *rest)}},
        partition=bucket.partition_row,
        partition_path=bucket.partition_path,
        bucket=bucket.bucket,
        total_buckets=bucket.total_buckets,
        files=files,
        # With deletion vectors, the rows that a delete removes are marked in the other files.
        output=MergeOutput.of_all_runs(unit.output.level) if target.schema.reads_files_alone else unit.output,
        rest=rest,
        deletions=bucket.deletions,
    )


def rest_of(schema: TableSchema, merged: Collection[DataFileMeta], live: Iterable[DataFileMeta]) -> Files:
    """The other live files of a bucket that a task must know; see `CompactTask.rest`."""
    engine = schema.merge_engine
    retracts = any(f.delete_row_count != 0 for f in merged)
    first_stays, takes_back = engine.rules.kept is Kept.OLDEST, retracts and _looks_rows_up(schema)
    if not (engine.may_outgrow or schema.reads_files_alone or first_stays or takes_back):
        return ()
    chosen = {f.file_name for f in merged}
    return tuple(f for f in live if f.file_name not in chosen)


def _looks_rows_up(schema: TableSchema) -> bool:
    """Whether some runs may merge that hold retractions, and rows of older runs are looked up for these.

    Where a column says which record is older, runs do not; and floating point keys are not looked up.
    """
    floats = any(has_root(f.type, ("FLOAT", "DOUBLE")) for f in schema.trimmed_key_fields)
    return schema.merge_engine.looks_rows_up and not (schema.core_options.sequence_field or floats)


def _keyed_unit(
    bucket: BucketScan, schema: TableSchema, extent: Extent, now_millis: int, *, has_casts: bool
) -> CompactionUnit | None:
    runs = sorted_runs(bucket.files)
    options = universal_options(schema)
    options = replace(options, rewrite_all=options.rewrite_all or has_casts)
    # The trigger may have been lowered, and the number of levels with it: files stay where they are.
    options = replace(options, num_levels=max(options.num_levels, highest_level(runs) + 1))
    if extent is Extent.FULL and bucket.deletions and runs:
        return unit_of(runs, len(runs), options)
    if extent is Extent.FULL:
        return pick_full(runs, options)
    if schema.reads_files_alone:
        # Readers leave level 0 out.
        return pick(runs, options, now_millis) or pick_unmerged(runs, options, 1)
    due = pick(runs, options, now_millis)
    if due is not None or extent is not Extent.UNMERGED:
        return due
    return pick_unmerged(runs, options, 1 if schema.core_options.force_compact else 2)


def _deleted_ratio(file: DataFileMeta, deletions: Deletions) -> float:
    """The share of a file's rows that are deleted; 1 where that is not known."""
    deleted = deletions.get(file.file_name)
    if deleted is None:
        return 0.0
    return 1.0 if deleted.count is None or not file.row_count else deleted.count / file.row_count


def _append_units(
    bucket: BucketScan, schema: TableSchema, extent: Extent, cast: Collection[str]
) -> list[CompactionUnit]:
    """Small files are rewritten together once there are enough of them, and so are `cast` ones and files of which many
    rows are deleted."""
    if any(is_retraction(f) for f in bucket.files):
        unit = _multiset_unit(bucket, schema, extent)
        return [] if unit is None else [unit]
    options = schema.core_options
    enough = 2 if options.force_compact else options.compaction_min_file_num
    size, rows = options.target_file_size, options.target_file_row_num
    if extent is not Extent.FULL:
        chosen = pick_small(bucket.files, size, enough, target_row_num=rows)
    elif options.force_rewrite_all_files:
        chosen = list(bucket.files)
    else:
        small = {f.file_name for f in pick_all_small(bucket.files, size, rows)}
        chosen = [f for f in bucket.files if f.file_name in small or f.file_name in cast]
    if bucket.deletions:
        least = 0.0 if extent is Extent.FULL else options.compaction_delete_ratio_threshold
        names = {f.file_name for f in chosen}
        chosen = [f for f in bucket.files if f.file_name in names or _deleted_ratio(f, bucket.deletions) > least]
    ordered = sorted(chosen, key=lambda f: (f.creation_time_millis or 0, f.min_sequence_number, f.file_name))
    parts = _cut(ordered, _PART_FILES * size) if bucket.deletions else [ordered]
    return [_concatenation(part) for part in parts if part]


def _cut(files: Sequence[DataFileMeta], least: int) -> list[list[DataFileMeta]]:
    """Files in parts of at least so many bytes, all in the same order. One statement may mark rows of all files of a
    table: each part is a task of its own."""
    parts: list[list[DataFileMeta]] = [[]]
    left = sum(f.file_size for f in files)
    size = 0
    for file in files:
        if size >= least and left >= least:
            parts.append([])
            size = 0
        parts[-1].append(file)
        size, left = size + file.file_size, left - file.file_size
    return parts


def _concatenation(files: Sequence[DataFileMeta]) -> CompactionUnit:
    return CompactionUnit(tuple(run for f in files for run in sorted_runs([f])), MergeOutput(0))


def _multiset_unit(bucket: BucketScan, schema: TableSchema, extent: Extent) -> CompactionUnit | None:
    if extent is Extent.FULL:
        return pick_whole_multiset(bucket.files)
    options = schema.core_options
    return pick_multiset(
        bucket.files,
        target_file_size=options.target_file_size,
        min_file_num=options.compaction_min_file_num,
        max_size_amplification_percent=options.max_size_amplification_percent,
        total_size_threshold=options.total_size_threshold,
        target_row_num=options.target_file_row_num,
    )
