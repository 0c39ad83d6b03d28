"""What is due in one table when somebody comes to compact it: scheduled plans first, then what the thresholds ask
for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from tablestore_engine.errors import ConflictError, ExecutionError, TableStoreError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.compact.scheduled_run import PlanFailure, PlanResult, run_each
from tablestore_engine.spark.compact.compactor import compact_table, execute_tasks, owner
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table import Table


def compact_due(spark: Callable[[], SparkSession], table: Table, *, full: bool = False) -> list[str]:
    """Carry out every scheduled compaction that nobody works on, and compact the buckets that are left.

    `full` makes every bucket one run, due or not. Buckets in which another process merges just now are left to it.
    A plan that fails stops neither the others nor other buckets. Returns what was done, a few words for each step.

    Raises:
        ConflictError, ExecutionError: steps failed, which the message names; all others are done.
        TableStoreError: there was but one step to do, or the timeline cannot be read.
    """
    done, failed = [], []
    for taken in run_each(table.state, owner(), now_millis, lambda chosen: execute_tasks(spark, chosen)):
        if isinstance(taken, PlanFailure):
            failed.append(taken)
        else:
            done.append(_rendered(taken))
    errors = [(f"Plan {one.plan.instant} failed", one.error) for one in failed]
    try:
        snapshot = _compact_rest(spark, table, failed, full=full)
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
    spark: Callable[[], SparkSession], table: Table, failed: Sequence[PlanFailure], *, full: bool
) -> Snapshot | None:
    """Compact what no plan is for. Where a plan has failed, a full compaction may succeed; the thresholds ask for much
    the same as the plan did.
    """
    unfit = () if full else (bucket_id for one in failed for bucket_id in one.plan.bucket_ids)
    busy = table.state.timeline.busy_buckets(now_millis())
    return compact_table(spark, table, full=full, skip=busy.union(unfit))


def _failure(errors: Sequence[tuple[str, TableStoreError]], done: Sequence[str]) -> TableStoreError:
    text = " ".join(f"{what}: {error}" for what, error in errors)
    kind = ConflictError if all(error.retryable for _, error in errors) else ExecutionError
    return kind(text, hint=f"Done besides: {', '.join(done)}." if done else None)


def _rendered(result: PlanResult) -> str:
    outcome = result.outcome
    if outcome.state is PlanState.CANCELLED:
        return f"plan {result.plan.instant} was cancelled: {outcome.message}"
    made = "" if outcome.snapshot_id is None else f" as snapshot {outcome.snapshot_id}"
    return f"plan {result.plan.instant} completed{made}"
