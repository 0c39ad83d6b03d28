"""Tables with dynamic buckets, what their index says, and writes up to their commit."""

from __future__ import annotations

import os

from support.tables import arrow_rows, identity, new_job
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.hash_index_change import index_change

DYNAMIC = {"bucket": "-1", "dynamic-bucket.target-row-num": "4"}
COLUMNS = {"id": "BIGINT", "v": "STRING"}


def buckets(table, snapshot=None):
    """How many keys each bucket has had, by the index."""
    return {e.bucket: e.row_count for e in sorted(table.index_files(snapshot), key=lambda e: e.bucket)}


def index_names(table):
    return sorted(os.listdir(table.paths.index_dir))


def everything(entry):
    return True


def prepared(table, made):
    """A write up to its commit."""
    snapshot = table.latest_snapshot()
    job = new_job(table)
    result = write_table(job, arrow_rows(table.schema, made))
    change = Change("APPEND", tuple(result.entries), index=index_change(job, result))
    return lambda: Committer(table.state).commit(change, identity()), snapshot
