"""The change that a write makes to the index of dynamic buckets. Pure."""

from __future__ import annotations

from tablestore_engine.operation.commit.index_change import IndexChange
from tablestore_engine.operation.write_job.write_job import WriteJob, WriteResult


def index_change(job: WriteJob, result: WriteResult) -> IndexChange | None:
    """The change that a write makes to the index; None for tables without one."""
    buckets = job.dynamic
    if buckets is None:
        return None
    made = {e.file_name for e in (*buckets.repaired, *result.index)}
    grew = frozenset(e.partition for e in result.index)
    written = grew.union(e.partition for e in result.entries)
    read = {p: frozenset(e.file_name for e in buckets.of(p)) - made for p in written}
    return IndexChange(tuple(result.index), read, grew, buckets.snapshot_id)
