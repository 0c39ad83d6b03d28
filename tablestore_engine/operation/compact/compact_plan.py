"""Which buckets of a table to compact, and into what: from live files to compaction tasks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

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
from tablestore_engine.operation.compact.compact_task import CompactTask, Files
from tablestore_engine.operation.files.deletion_vectors import Deletions
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore


def universal_options(schema: TableSchema) -> UniversalOptions:
    """The thresholds that the table's options set."""
    options = schema.core_options
    return UniversalOptions(
        run_trigger=options.num_sorted_runs_compaction_trigger,
        max_size_amplification_percent=options.max_size_amplification_percent,
        size_ratio=options.size_ratio,
        num_levels=options.num_levels,
        keep_deletes=schema.keeps_deletes,
        settle_together=schema.merge_engine.stores_retractions,
        from_oldest=schema.merge_engine.folds_in_order,
        optimization_interval_millis=options.optimization_interval_millis,
        total_size_threshold=options.total_size_threshold,
        incremental_size_threshold=options.incremental_size_threshold,
        rewrite_all=options.force_rewrite_all_files,
    )


def plan_compaction(
    buckets: Iterable[BucketScan],
    target: WriteTarget,
    schemas: SchemaStore,
    *,
    full: bool,
    unmerged: bool = False,
) -> list[CompactTask]:
    """A task for each bucket that needs one: `full` merges all runs, else the thresholds decide.

    With `unmerged`, files at level 0 are merged even if the thresholds do not require it.

    The current time is that of the target, at which the compaction began.
    """
    tasks = []
    for bucket in buckets:
        to = knowing(target, bucket.files, schemas)
        if to.schema.primary_keys:
            unit = _keyed_unit(bucket, to.schema, full, unmerged, to.creation_time_millis)
        else:
            unit = _append_unit(bucket, to.schema, full)
        if unit is None:
            continue
        tasks.append(task_of(bucket, unit, to, schemas))
    return tasks


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
    if not (schema.merge_engine.may_outgrow or schema.reads_files_alone):
        return ()
    chosen = {f.file_name for f in merged}
    return tuple(f for f in live if f.file_name not in chosen)


def _keyed_unit(
    bucket: BucketScan, schema: TableSchema, full: bool, unmerged: bool, now_millis: int
) -> CompactionUnit | None:
    runs = sorted_runs(bucket.files)
    options = universal_options(schema)
    # The trigger may have been lowered, and the number of levels with it: files stay where they are.
    options = replace(options, num_levels=max(options.num_levels, highest_level(runs) + 1))
    if full and bucket.deletions and runs:
        return unit_of(runs, len(runs), options)
    if full:
        return pick_full(runs, options)
    if schema.reads_files_alone:
        # Readers leave level 0 out.
        return pick(runs, options, now_millis) or pick_unmerged(runs, options, 1)
    least = 1 if schema.core_options.force_compact else 2
    return pick(runs, options, now_millis) or (pick_unmerged(runs, options, least) if unmerged else None)


def _deleted_ratio(file: DataFileMeta, deletions: Deletions) -> float:
    """The share of a file's rows that are deleted; 1 where that is not known."""
    deleted = deletions.get(file.file_name)
    if deleted is None:
        return 0.0
    return 1.0 if deleted.count is None or not file.row_count else deleted.count / file.row_count


def _append_unit(bucket: BucketScan, schema: TableSchema, full: bool) -> CompactionUnit | None:
    """Small files are rewritten together once there are enough of them, and files of which many rows are deleted."""
    options = schema.core_options
    if any(is_retraction(f) for f in bucket.files):
        if full:
            return pick_whole_multiset(bucket.files)
        return pick_multiset(
            bucket.files,
            target_file_size=options.target_file_size,
            min_file_num=options.compaction_min_file_num,
            max_size_amplification_percent=options.max_size_amplification_percent,
            total_size_threshold=options.total_size_threshold,
            target_row_num=options.target_file_row_num,
        )
    enough = 2 if options.force_compact else options.compaction_min_file_num
    size, rows = options.target_file_size, options.target_file_row_num
    if not full:
        chosen = pick_small(bucket.files, size, enough, target_row_num=rows)
    elif options.force_rewrite_all_files:
        chosen = list(bucket.files)
    else:
        chosen = pick_all_small(bucket.files, size, rows)
    if bucket.deletions:
        least = 0.0 if full else options.compaction_delete_ratio_threshold
        chosen = [f for f in bucket.files if f in chosen or _deleted_ratio(f, bucket.deletions) > least]
    if not chosen:
        return None
    ordered = sorted(chosen, key=lambda f: (f.creation_time_millis or 0, f.min_sequence_number, f.file_name))
    runs = tuple(run for f in ordered for run in sorted_runs([f]))
    return CompactionUnit(runs, MergeOutput(0))
