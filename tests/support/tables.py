"""Tables for tests without Spark: make one, write rows, compact, read back, and check what must always hold.

`write` and `compact` do what the Spark side does around the operations; rows are dictionaries. `check_invariants` reads
every live file and compares it with what its metadata says.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import tempfile
import uuid
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from tablestore_engine.catalog import Catalog
from tablestore_engine.mergetree.compaction.levels import sorted_runs
from tablestore_engine.mergetree.compaction.universal import unit_of
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.bucket import bucket_of
from tablestore_engine.metadata.data_file import EMPTY_STATS, DataFileMeta
from tablestore_engine.metadata.manifest import FileKind, ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.identity import CommitIdentity
from tablestore_engine.operation.compact.auto_compaction import run_and_commit
from tablestore_engine.operation.compact.compact_plan import plan_compaction, task_of, universal_options
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.job.dynamic_bucket import key_hashes
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.job.write_job import ROW_KIND_COLUMN
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_buffer import write_tables
from tablestore_engine.operation.write.write_table import write_table
from tablestore_engine.schema.table.creation import create_schema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.system import COUNT, SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.schema.types.types import MapType, parse_type
from tablestore_engine.storage.hash_index import read_hashes

PUT, DELETE = 0, 3
_ids = itertools.count(1)
_pools = []  # what was allocated from one may live as long as the process
_MEMORY = "/dev/shm"


@contextmanager
def scratch_directory(prefix):
    """A directory that is removed at the end; in memory if the system can, because that is faster."""
    in_memory = os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK)
    directory = tempfile.mkdtemp(prefix=prefix, dir=_MEMORY if in_memory else None)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def schema_of(columns, primary_keys=(), partition_keys=(), options=None, **kwargs):
    """A schema from `{"name": "TYPE"}`."""
    typed = [(name, parse_type(text), None) for name, text in columns.items()]
    return create_schema(typed, primary_keys, partition_keys, dict(options or {}), **kwargs)


def make_table(warehouse, columns, primary_keys=(), partition_keys=(), options=None, *, name="t", io=None):
    """An empty table `default.<name>`."""
    catalog = warehouse if isinstance(warehouse, Catalog) else Catalog(warehouse, io)
    return catalog.create_table("default", name, schema_of(columns, primary_keys, partition_keys, options))


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
    return publish(table.state, job, result, Change(kind, **change), follow_ups=())


def compact(table, *, full=True):
    """Run the compactions that are due. Returns the snapshot, None when nothing was."""
    tasks = plan_compaction(table.scan().buckets, table.write_target(), table.schemas.load, full=full)
    return run_and_commit(table.state, tasks, execute_here) if tasks else None


def compact_newest(table, count):
    """Merge the newest runs of each bucket, or what a strategy would take with them. Returns the snapshot, if any."""
    target, options = table.write_target(), universal_options(table.schema)
    tasks = []
    for bucket in table.scan().buckets:
        runs = sorted_runs(bucket.files)
        unit = unit_of(runs, min(count, len(runs)), options)
        if len(unit.runs) >= 2:
            tasks.append(task_of(bucket, unit, target, table.schemas.load))
    return run_and_commit(table.state, tasks, execute_here) if tasks else None


@contextmanager
def arrow_memory():
    """A pool that counts what Arrow allocates from now on: `max_memory()` are the most bytes at one time."""
    outer = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(outer)
    _pools.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(outer)


def read(table, **kwargs):
    """All rows as dictionaries, in no particular order."""
    return table.to_arrow(**kwargs).to_pylist()


def by_key(table, key="id", **kwargs):
    """Rows by one key column."""
    rows = read(table, **kwargs)
    found = {row[key]: row for row in rows}
    assert len(found) == len(rows), "a key occurs twice in the answer"
    return found


def path_of(table, entry):
    """The path of a live file."""
    directory = PartitionFormat(table.schema).path_of(entry.partition)
    return table.paths.data_file(directory, entry.bucket, entry.file.file_name)


def data_files(table):
    """Paths of all data files below a table, live or not."""
    return {
        os.path.join(directory, name)
        for directory, _, names in os.walk(table.path)
        for name in names
        if os.path.basename(directory).startswith("bucket-") and not name.startswith(".")
    }


def live_paths(table, snapshot=None):
    """Paths of the files of a snapshot, by default the latest."""
    return {path_of(table, e) for e in table.live_files(snapshot)}


def meta(name="f", *, level=0, size=100, low=0, high=0, sequence=0, deletes=0, rows=1, key_types=None):
    """A made-up data file whose key is one BIGINT from `low` to `high`."""
    from tablestore_engine.metadata.binary_row import encode_row

    types = key_types or [parse_type("BIGINT NOT NULL")]
    low_sequence, high_sequence = sequence if isinstance(sequence, tuple) else (sequence, sequence)
    return DataFileMeta(
        file_name=name,
        file_size=size,
        row_count=rows,
        min_key=encode_row(low if isinstance(low, tuple) else (low,), types),
        max_key=encode_row(high if isinstance(high, tuple) else (high,), types),
        key_stats=EMPTY_STATS,
        value_stats=EMPTY_STATS,
        min_sequence_number=low_sequence,
        max_sequence_number=high_sequence,
        schema_id=0,
        level=level,
        creation_time_millis=0,
        delete_row_count=deletes,
        file_source=0,
    )


def add(file, *, partition=b"\0\0\0\0", bucket=0, total=1):
    """An ADD entry."""
    return ManifestEntry(FileKind.ADD, partition, bucket, total, file)


def digest_of(path):
    """Of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def check_invariants(table, known=None):
    """What format.md promises of every live file; reads them all.

    `known` are paths of files that need not be read again, since a file is written once; with the digests of their
    bytes. Those that are read are added.
    """
    known = {} if known is None else known
    entries = table.live_files()
    assert all(e.kind == FileKind.ADD for e in entries)
    counts = defaultdict(set)
    levels = defaultdict(list)
    for entry in entries:
        counts[entry.partition].add(entry.total_buckets)
        if (path := path_of(table, entry)) not in known:
            check_file(table, entry)
            known[path] = digest_of(path)
        if table.schema.primary_keys:
            types = [f.type for f in table.schema.trimmed_key_fields]
            interval = decode_row(entry.file.min_key, types), decode_row(entry.file.max_key, types)
            if entry.file.level > 0:
                levels[entry.partition, entry.bucket, entry.file.level].append(interval)
    assert all(len(found) == 1 for found in counts.values()), "several bucket counts in one partition"
    for bucket_id, intervals in levels.items():
        intervals.sort()
        for (_, high), (low, _) in itertools.pairwise(intervals):
            assert high < low, f"files of {bucket_id} overlap: {high} and {low}"
    if table.schema.has_bucket_index:
        check_index(table, entries)
    snapshot = table.latest_snapshot()
    if snapshot is not None:
        assert snapshot.total_record_count == sum(e.file.row_count for e in entries)


def live_entries(table, snapshot=None):
    """The entries of a snapshot's files by path, by default of the latest one."""
    return {path_of(table, entry): entry for entry in table.live_files(snapshot)}


def check_snapshots(table, live, known):
    """Snapshots name the files that they named when they were made, `live`, whose bytes are as `known`.

    So they read as they did: what is read follows from these alone.
    """
    kept = [one for one in table.snapshots() if one.id in live]
    for snapshot in kept:
        assert live_entries(table, snapshot) == live[snapshot.id]
    paths = {path for snapshot in kept for path in live[snapshot.id]}
    assert {path: digest_of(path) for path in paths} == {path: known[path] for path in paths}


def check_index(table, entries):
    """Every key is in the index of its own bucket, and in that of no other bucket of its partition."""
    index = table.index_files()
    hashes = {}
    for one in index:
        path = index_path(table.paths, table.schema, one)
        assert one.bucket_id not in hashes, "two index files of one bucket"
        hashes[one.bucket_id] = found = set(read_hashes(table.io, path).tolist())
        assert (one.file_size, one.row_count) == (os.path.getsize(path), len(found))
    for bucket_id, found in hashes.items():
        for other, others in hashes.items():
            assert bucket_id == other or bucket_id[0] != other[0] or not found & others, (
                f"{bucket_id} and {other} share keys"
            )
    for entry in entries:
        keys = key_hashes(pq.read_table(path_of(table, entry), partitioning=None), table.schema)
        assert set(keys.tolist()) <= hashes[entry.partition, entry.bucket], "a key is not in the index"


def check_file(table, entry):
    """One live file against its metadata: size, rows, order, keys, bucket, sequence numbers, deletes, bounds."""
    file, schema = entry.file, table.schemas.load(entry.file.schema_id)
    path = path_of(table, entry)
    assert os.path.getsize(path) == file.file_size
    stored = pq.ParquetFile(path)
    rows = stored.read()
    assert rows.num_rows == file.row_count > 0
    for field in stored.schema_arrow:
        assert b"PARQUET:field_id" in field.metadata, field.name
    partition = dict(zip(schema.partition_keys, PartitionFormat(schema).decode(entry.partition), strict=True))
    for name, value in partition.items():
        assert set(rows.column(name).to_pylist()) == {value}
    check_bounds(rows, file, schema)
    if not schema.primary_keys:
        check_unkeyed_file(rows, file, schema)
        return
    copies = [] if schema.core_options.data_file_thin_mode else [key_field(f).name for f in schema.trimmed_key_fields]
    keys = copies or list(schema.trimmed_primary_keys)
    assert rows.column_names == [*copies, SEQUENCE_NUMBER.name, VALUE_KIND.name, *schema.field_names]
    found = list(zip(*(rows.column(k).to_pylist() for k in keys), strict=True))
    assert all(a < b for a, b in itertools.pairwise(found)), "keys are not strictly ascending"
    types = [f.type for f in schema.trimmed_key_fields]
    assert decode_row(file.min_key, types) == found[0]
    assert decode_row(file.max_key, types) == found[-1]
    for key, name in zip(keys, schema.trimmed_primary_keys, strict=True):
        assert rows.column(key).to_pylist() == rows.column(name).to_pylist()
    sequences = rows.column(SEQUENCE_NUMBER.name).to_pylist()
    assert (min(sequences), max(sequences)) == (file.min_sequence_number, file.max_sequence_number)
    kinds = rows.column(VALUE_KIND.name).to_pylist()
    assert sum(kind in (1, 3) for kind in kinds) == file.delete_row_count
    names = [f.name for f in schema.bucket_fields]
    values = list(zip(*(rows.column(n).to_pylist() for n in names), strict=True))
    bucket_types = [f.type for f in schema.bucket_fields]
    if schema.has_dynamic_buckets:
        return  # see check_index
    for one in values:
        assert bucket_of(one, bucket_types, entry.total_buckets) == entry.bucket


def check_unkeyed_file(rows, file, schema):
    """A plain file has the columns; one of retractions also counts, which its sequence numbers sum up."""
    if not file.delete_row_count:
        assert rows.column_names == list(schema.field_names)
        assert (file.min_sequence_number, file.max_sequence_number) == (0, file.row_count - 1)
        return
    assert rows.column_names == [COUNT.name, *schema.field_names]
    assert file.delete_row_count == file.row_count
    counts = rows.column(COUNT.name).to_pylist()
    assert max(counts) < 0
    assert (file.min_sequence_number, file.max_sequence_number) == (0, -sum(counts) - 1)


def check_bounds(rows, file, schema):
    """Value statistics bound every value, and count the nulls."""
    names = schema.field_names if file.value_stats_cols is None else file.value_stats_cols
    fields = [schema.field(name) for name in names]
    types = [f.type for f in fields]
    low, high = decode_row(file.value_stats.min_values, types), decode_row(file.value_stats.max_values, types)
    for field, least, greatest, nulls in zip(fields, low, high, file.value_stats.null_counts, strict=True):
        values = rows.column(field.name).to_pylist()
        if nulls is not None:
            assert nulls == sum(v is None for v in values), field.name
        if least is not None:
            assert all(least <= v <= greatest for v in values if v is not None), field.name
