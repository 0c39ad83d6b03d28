"""Tables for tests without Spark: make one, write rows, compact and read back.

`write` and `compact` do what the Spark side does around the operations; rows are dictionaries.
"""

from __future__ import annotations

import itertools
import os
import uuid
from dataclasses import replace

import pyarrow as pa

from tablestore_engine.catalog import Catalog
from tablestore_engine.mergetree.compaction.levels import sorted_runs
from tablestore_engine.mergetree.compaction.pick_runs import unit_of
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.compact.auto_compaction import run_and_commit
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks, task_of, universal_options
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.scan.plan_scan import stored_buckets
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.cross_partition_keys import files_with, records_of, routed_rows
from tablestore_engine.operation.write.write_buffer import write_tables
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import MapType, parse_type

PUT, DELETE = 0, 3
_ids = itertools.count(1)


def schema_of(columns, primary_keys=(), partition_keys=(), options=None, **kwargs):
    """A schema from `{"name": "TYPE"}`."""
    typed = [(name, parse_type(text), None) for name, text in columns.items()]
    return create_schema(typed, primary_keys, partition_keys, dict(options or {}), **kwargs)


def make_table(warehouse, columns, primary_keys=(), partition_keys=(), options=None, *, name="t", io=None):
    """An empty table `default.<name>`."""
    catalog = warehouse if isinstance(warehouse, Catalog) else Catalog(warehouse, io)
    return catalog.create_table("default", name, schema_of(columns, primary_keys, partition_keys, options))


def reload(table, io=None):
    """The table as another process would find it."""
    database, name = table.identifier
    return Catalog(os.path.dirname(os.path.dirname(table.path)), io).load_table(database, name)


def keyed_table(warehouse, options=None, **more):
    """An empty table of two INTs: its key `id`, and `v`."""
    return make_table(warehouse, {"id": "INT", "v": "INT"}, ["id"], options=options, **more)


def partitioned_table(warehouse, options=None, **more):
    """An empty table of a STRING and two INTs: its partition column `p`, `id`, which completes the key, and `v`."""
    return make_table(warehouse, {"p": "STRING", "id": "INT", "v": "INT"}, ["p", "id"], ["p"], options, **more)


def row(number, v=0, p="a"):
    """A row of a `partitioned_table`."""
    return {"p": p, "id": number, "v": v}


def rows(ids, v=0, **more):
    """Rows of a `keyed_table`, one for each id; with `p=…`, of a `partitioned_table`."""
    return [{**more, "id": number, "v": v} for number in ids]


def arrow_rows(schema, rows, kinds=None):
    """Dictionaries as an Arrow table with the table's types; missing columns are null."""
    columns = {
        f.name: pa.array([_of_map(row.get(f.name), f.type) for row in rows], to_arrow_type(f.type))
        for f in schema.fields
    }
    if kinds is not None:
        columns[ROW_KIND_COLUMN] = pa.array(kinds, pa.int8())
    return pa.table(columns)


def _of_map(value, kind):
    return list(value.items()) if isinstance(kind, MapType) and isinstance(value, dict) else value


def keyed_arrow(v, *ids):
    """Rows of a `keyed_table` in Arrow, one for each id."""
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array([v] * len(ids), pa.int32())})


def new_job(table, *, refuse_duplicates=False, sequence=None, into_empty=False):
    """A write job on the table's latest snapshot."""
    removes = (lambda entry: True) if into_empty else None
    job = begin(table.state, WriteIntent(refuse_duplicates), table.latest_snapshot(), removes=removes)
    number = max((e.file.max_sequence_number for e in table.live_files()), default=-1) + 1
    return replace(job, sequence_number=number if sequence is None else sequence)


def identity(user="test"):
    """An identity that nobody else has."""
    return CommitIdentity(f"{user}-{os.getpid()}", next(_ids))


def write_files(job, rows, kinds=None, *, pieces=0, sizes=None):
    """Write dictionaries into files. With `sizes` they come to the write buffer, `pieces` rows at a time."""
    given, task = arrow_rows(job.schema, rows, kinds), f"{uuid.uuid4().hex[:6]}-"
    if sizes is None:
        return write_table(job, given, task)
    tables = [given.slice(i, pieces) for i in range(0, given.num_rows, pieces)]
    return write_tables(job, tables, sizes, task)


def write(table, rows, kinds=None, *, kind="APPEND", job=None, properties=None, **change):
    """Write dictionaries and commit them; nothing follows the commit. Returns the snapshot."""
    job = job or new_job(table)
    result = write_files(job, rows, kinds)
    job = replace(job, intent=WriteIntent(properties=properties, identity=identity()))
    return publish(table.state, job, result, Change(kind, **change)).snapshot


def write_routed(table, rows, kinds=None):
    """Write dictionaries into a table whose keys may be in any partition. Returns the snapshot."""
    job, buckets = new_job(table), table.scan().buckets

    def records(sought):
        return records_of(table.state, files_with(buckets, table.schema, sought), sought)

    routed = routed_rows(arrow_rows(table.schema, rows, kinds), job, buckets, records)
    job = replace(job, intent=WriteIntent(identity=identity()))
    return publish(table.state, job, write_table(job, routed), Change("APPEND")).snapshot


def compact(table, *, full=True):
    """Run the compactions that are due. Returns the snapshot, None when nothing was."""
    extent = Extent.FULL if full else Extent.DUE
    tasks = pick_tasks(_stored(table), table.write_target(), table.schemas, extent)
    return run_and_commit(table.state, tasks, execute_here) if tasks else None


def _stored(table):
    """All buckets, also with what readers leave out."""
    return stored_buckets(table.state, table.latest_snapshot())


def compact_newest(table, count):
    """Merge the newest runs of each bucket, or what a strategy would take with them. Returns the snapshot, if any.

    `count` is their number, or a function that gives it for the runs of a bucket: 0 leaves them as they are.
    """
    target, options = table.write_target(), universal_options(table.schema)
    tasks = []
    for bucket in _stored(table):
        runs = sorted_runs(bucket.files)
        chosen = min(count(runs) if callable(count) else count, len(runs))
        unit = unit_of(runs, chosen, options)
        if chosen and len(unit.runs) >= 2:
            tasks.append(task_of(bucket, unit, target, table.schemas))
    return run_and_commit(table.state, tasks, execute_here) if tasks else None


def execute_and_die(tasks):
    """Runs compactions in this process, which is killed before it commits them."""
    execute_here(tasks)
    raise KeyboardInterrupt


def no_spark():
    """Makes the session of a test that needs none."""
    raise AssertionError("Spark was started")


def commit_kinds(table):
    """The kinds of the commits, oldest first."""
    return [snapshot.commit_kind for snapshot in table.snapshots()]


def plan_states(table):
    """The states of the plans of compaction, oldest first."""
    return [plan.state for plan in table.state.timeline.load()]


def read(table, **kwargs):
    """All rows as dictionaries, in no particular order."""
    return table.to_arrow(**kwargs).to_pylist()


def by_key(table, key="id", **kwargs):
    """Rows by one key column."""
    rows = read(table, **kwargs)
    found = {row[key]: row for row in rows}
    assert len(found) == len(rows), "a key occurs twice in the answer"
    return found


def values(table, **kwargs):
    """The values `v` of a `keyed_table`, by its key."""
    return {key: row["v"] for key, row in by_key(table, **kwargs).items()}
