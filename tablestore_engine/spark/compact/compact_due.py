"""The due compactions of one table: scheduled plans first, then those that the thresholds require."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from tablestore_engine.errors import ConflictError, ExecutionError, TableStoreError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.compact.pick_tasks import Extent
from tablestore_engine.operation.compact.scheduled_run import PlanFailure, PlanResult, run_each
from tablestore_engine.spark.compact.compactor import compact_table, execute_tasks, owner
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table import Table


def compact_due(spark: Callable[[], SparkSession], table: Table, extent: Extent = Extent.DUE) -> list[str]:
    """Execute every unclaimed scheduled compaction, and compact the other buckets.

    With `Extent.FULL`, every bucket becomes one run. Buckets that another process is merging are left to it. A plan
    that fails stops neither other plans nor other buckets. Returns a short description of each step.

    Raises:
        ConflictError, ExecutionError: steps failed, which the message names; all others are done.
        TableStoreError: the only step failed, or the timeline cannot be read.
    """
    done, failed = [], []
    for taken in run_each(table.state, owner(), now_millis, lambda chosen: execute_tasks(spark, chosen)):
        if isinstance(taken, PlanFailure):
            failed.append(taken)
        else:
            done.append(_rendered(taken))
    errors = [(f"Plan {one.plan.instant} failed", one.error) for one in failed]
    try:
        snapshot = _compact_rest(spark, table, failed, extent)
        if snapshot is not None:
            done.append(f"compacted as snapshot {snapshot.id}")
    except TableStoreError as error:
        if not errors:
            raise
        errors.append(("Not all buckets were compacted", error))
    if errors:
        raise _failure(errors, done) from errors[0][1]
    return done


def _compact_rest(
    spark: Callable[[], SparkSession], table: Table, failed: Sequence[PlanFailure], extent: Extent
) -> Snapshot | None:
    """Compact buckets without a plan. If a plan has failed, a full compaction may succeed; the thresholds would require
    much the same as the plan.
    """
    unfit = () if extent is Extent.FULL else (bucket_id for one in failed for bucket_id in one.plan.bucket_ids)
    busy = table.state.timeline.busy_buckets(now_millis())
    return compact_table(spark, table, extent=extent, skip=busy.union(unfit))


def _failure(errors: Sequence[tuple[str, TableStoreError]], done: Sequence[str]) -> TableStoreError:
    text = " ".join(f"{what}: {error}" for what, error in errors)
    kind = ConflictError if all(error.retryable for _, error in errors) else ExecutionError
    return kind(text, hint=f"Also done: {', '.join(done)}." if done else None)


def _rendered(result: PlanResult) -> str:
    outcome = result.outcome
    if outcome.state is PlanState.CANCELLED:
        return f"plan {result.plan.instant} was cancelled: {outcome.message}"
    made = "" if outcome.snapshot_id is None else f" as snapshot {outcome.snapshot_id}"
    return f"plan {result.plan.instant} completed{made}"
