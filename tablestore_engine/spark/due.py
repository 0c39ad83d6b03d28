"""What is due in one table when somebody comes to compact it: scheduled plans first, then what the thresholds ask for."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.scheduled_run import PlanResult
from tablestore_engine.spark.compactor import compact_table, run_scheduled
from tablestore_engine.storage.clock import now_millis
from tablestore_engine.table import Table


def compact_due(spark: Callable[[], SparkSession], table: Table, *, full: bool = False) -> list[str]:
    """Carry out every scheduled compaction that nobody works on, and compact the buckets that are left.

    `full` makes every bucket one run, due or not. Buckets in which another process merges just now are left to it.
    Returns what was done, a few words for each step.

    Raises:
        TableStoreError: a step failed; those before it stay done.
    """
    done = []
    while (result := run_scheduled(spark, table)) is not None:
        done.append(_told(result))
    busy = table.compactions.busy_places(now_millis())
    snapshot = compact_table(spark, table, full=full, skip=busy)
    if snapshot is not None:
        done.append(f"compacted as snapshot {snapshot.id}")
    return done


def _told(result: PlanResult) -> str:
    outcome = result.outcome
    if outcome.state is PlanState.CANCELLED:
        return f"plan {result.plan.instant} was void"
    made = "" if outcome.snapshot_id is None else f" as snapshot {outcome.snapshot_id}"
    return f"plan {result.plan.instant} completed{made}"
