"""Scheduling compactions: deciding now what to merge, for a process that executes it later.

Buckets of a pending plan are left out, so plans can be executed in any order and in parallel. The table does not
change: a plan names files, and is void, without blocking others, as soon as one of them is removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tablestore_engine.errors import ConflictError, OptionError, SnapshotNotFound
from tablestore_engine.metadata.compaction_plan import (
    CompactionPlan,
    MergeOutput,
    Outcome,
    PlanGroup,
    PlannedFile,
    PlanState,
    instant_of,
    millis_of,
)
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.operation.commit.append_deletion_vectors import keeps_file_vectors
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.conflicts import hidden_by_deletes
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.compact.pick_tasks import Extent, knowing, pick_tasks, rest_of
from tablestore_engine.operation.files.rolling_writer import WriteTarget, write_target
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.operation.scan.plan_scan import live_entries, plan_scan
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore
from tablestore_engine.table_state import TableState

STRATEGIES = ("minor", "full")
KEPT_PLANS = 100
"""The number of finished plans that stay on the timeline."""
_ATTEMPTS = 20


def schedule(
    state: TableState, strategy: str, now_millis: int, chosen: PartitionValuesFilter | None = None
) -> CompactionPlan | None:
    """Write a plan of due compactions. Returns it, None when nothing is due.

    Args:
        state: the table.
        strategy: `minor` merges where the thresholds require it, and files at level 0; `full` makes
            every bucket one run.
        now_millis: the time now.
        chosen: only these partitions.

    Raises:
        OptionError: the table has deletion vectors.
    """
    if state.schema.reads_files_alone or keeps_file_vectors(state.schema):
        raise OptionError(
            f"Compactions of table {state.name} are not scheduled: it has deletion vectors.",
            hint="Writes compact it, and ALTER TABLE … COMPACT does.",
        )
    latest = state.snapshots.latest()
    if latest is None:
        return None
    pending = {bucket_id for one in _pending_plans(state, latest) for bucket_id in one.bucket_ids}
    plan = plan_scan(state, latest, partition_filter=chosen)
    free = [one for one in plan.buckets if (one.partition_row, one.bucket) not in pending]
    extent = Extent.FULL if strategy == "full" else Extent.UNMERGED
    tasks = pick_tasks(free, write_target(state), state.schemas, extent)
    if not tasks:
        return None
    made = _write_plan(state, latest, strategy, tasks, now_millis)
    stays = not _cancelled_for_older(state, latest, made, now_millis)
    state.timeline.prune(KEPT_PLANS)
    return made if stays else None


def _pending_plans(state: TableState, latest: Snapshot) -> list[CompactionPlan]:
    """The pending plans that are not void; executing a void plan only records that."""
    pending = [one.plan for one in state.timeline.pending()]
    if not pending:
        return []
    live, target = live_entries(state.manifests, latest), write_target(state)
    return [one for one in pending if not isinstance(plan_tasks(one, live, target, state.schemas), str)]


def schedule_after_commit(state: TableState, now_millis: int) -> CompactionPlan | None:
    """Write a plan if `compaction.delta-commits` commits were made since the last one."""
    latest = state.snapshots.latest()
    if latest is None:
        return None
    newest = state.timeline.newest()
    wanted = state.schema.core_options.compaction_delta_commits
    since = newest.snapshot_id if newest else 0
    if since > latest.id:
        since = 0  # the table was rolled back
    if not enough_commits(_kinds(state, latest), latest.id - since, wanted):
        return None
    return schedule(state, "minor", now_millis)


def enough_commits(kinds: Iterable[str | None], most: int, wanted: int) -> bool:
    """Whether `wanted` of the newest `most` snapshots are writes.

    Args:
        kinds: kinds of the snapshots, newest first, read as far as needed; None for an expired one, which counts as a
            write, as do all before it.
        most: how many snapshots are read.
        wanted: how many writes are enough.
    """
    count = 0
    for seen, kind in enumerate(kinds):
        if count >= wanted or seen >= most:
            break
        if kind is None:
            return count + most - seen >= wanted
        count += kind not in NO_ROWS
    return count >= wanted


def _kinds(state: TableState, latest: Snapshot) -> Iterator[str | None]:
    yield latest.commit_kind
    for snapshot_id in range(latest.id - 1, 0, -1):
        try:
            yield state.snapshots.load(snapshot_id).commit_kind
        except SnapshotNotFound:
            yield None


def _write_plan(
    state: TableState, latest: Snapshot, strategy: str, tasks: Sequence[CompactTask], now_millis: int
) -> CompactionPlan:
    """The plan on the timeline, under the first instant from now on that is free and later than all others."""
    groups = tuple(
        PlanGroup(
            task.partition,
            task.bucket,
            task.output,
            tuple(PlannedFile(f.file_name, f.level, f.file_size) for f in task.files),
        )
        for task in tasks
    )
    # All attempts at the plan commit as the same user, so it is committed at most once.
    scheduler = new_identity(state.schema.core_options, "compact").user
    for _ in range(_ATTEMPTS):
        last = max(state.timeline.instants(), default=None)
        millis = now_millis if last is None else max(now_millis, millis_of(last) + 1)
        instant = instant_of(millis)
        user = f"{scheduler}-{instant}"
        plan = CompactionPlan(instant, latest.id, strategy, user, scheduler, now_millis, groups)
        if state.timeline.request(plan):
            return plan
    raise ConflictError("Others keep scheduling compactions of the same table.", hint="Try again.")


def _cancelled_for_older(state: TableState, latest: Snapshot, made: CompactionPlan, now_millis: int) -> bool:
    """Whether an older plan for the same bucket was made at the same time by another process, so that this one is
    void."""
    for other in _pending_plans(state, latest):
        if other.instant < made.instant and other.bucket_ids & made.bucket_ids:
            message = f"plan {other.instant}, made at the same time, merges in the same buckets"
            state.timeline.finish(made.instant, Outcome(PlanState.CANCELLED, now_millis, message=message))
            return True
    return False


def tasks_of(plan: CompactionPlan, state: TableState) -> list[CompactTask] | str:
    """The tasks of a plan on the table as it is now; or, when the plan is void, why."""
    latest = state.snapshots.latest()
    live = live_entries(state.manifests, latest) if latest else []
    return plan_tasks(plan, live, write_target(state), state.schemas)


def plan_tasks(
    plan: CompactionPlan,
    live: Iterable[ManifestEntry],
    target: WriteTarget,
    schemas: SchemaStore,
) -> list[CompactTask] | str:
    """The tasks of a plan when all its files are among the live ones; else the reason against it. Pure."""
    files = {(e.partition, e.bucket, e.file.file_name, e.file.level): e for e in live if e.kind == FileKind.ADD}
    engine, keyed = target.schema.merge_engine, bool(target.schema.primary_keys)
    by_bucket: dict[tuple[bytes, int], list[ManifestEntry]] = defaultdict(list)
    for one in files.values():
        by_bucket[one.partition, one.bucket].append(one)
    partition_format = PartitionFormat(target.schema)
    tasks = []
    for group in plan.groups:
        found = []
        for planned in group.files:
            entry = files.get((group.partition, group.bucket, planned.file_name, planned.level))
            if entry is None:
                return f"File {planned.file_name} is no longer part of the table."
            found.append(entry)
        bucket = by_bucket[group.partition, group.bucket]
        chosen = {e.identifier for e in found}
        stay = [e for e in bucket if e.identifier not in chosen]
        drops = keyed and group.output.drop_deletes
        older = hidden_by_deletes(target.schema, found, stay) if drops else None
        if older is None and not engine.takes_late:
            older = _older_file(found, stay)
        if older is not None:
            name = older.file.file_name
            return f"File {name} came since then, and holds older records than the plan merges."
        # In a multiset table, newer files may hold the rows that retractions of the plan remove.
        all_there = not engine.rules.is_multiset or len(bucket) == len(found)
        merged = tuple(e.file for e in found)
        rest = rest_of(target.schema, merged, (e.file for e in bucket))
        tasks.append(
            CompactTask(
                target=knowing(target, (*merged, *rest), schemas),
                schemas={i: schemas.load(i) for i in {f.schema_id for f in (*merged, *rest)}},
                partition=group.partition,
                partition_path=partition_format.path_of(group.partition),
                bucket=group.bucket,
                total_buckets=found[0].total_buckets,
                files=merged,
                output=group.output if all_there else MergeOutput(group.output.level),
                rest=rest,
            )
        )
    return tasks


def _older_file(merged: Sequence[ManifestEntry], stay: Iterable[ManifestEntry]) -> ManifestEntry | None:
    """A file at level 0 of the bucket with older records than a merge would contain; None if there is none.

    A write may draw its sequence number before a plan is made and commit after it.
    """
    newest = max(e.file.max_sequence_number for e in merged)
    level_0 = (e for e in stay if e.file.level == 0)
    return next((e for e in level_0 if e.file.min_sequence_number <= newest), None)
