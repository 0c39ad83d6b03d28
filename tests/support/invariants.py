"""What must always hold of a table on disk: `check_invariants` reads its live files and compares them with what their
metadata says.
"""

from __future__ import annotations

import io
import itertools
import json
import os
from collections import defaultdict
from datetime import datetime, timedelta

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from support.files import digest_of, live_entries, path_of
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.bucket_hash import bucket_of
from tablestore_engine.metadata.manifest_encoding import avro_container
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, HASH
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.metadata.partition import UNKNOWN, PartitionFormat
from tablestore_engine.operation.dynamic_buckets.hash_index import key_hashes
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.schema.types.system_columns import COUNT, SEQUENCE_NUMBER, VALUE_KIND, key_field
from tablestore_engine.storage.metadata_files.hash_index_file import read_hashes


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
    if table.schema.has_hash_index:
        check_index(table, entries)
    if table.schema.reads_files_alone:
        check_vectors(table, entries)
    snapshot = table.latest_snapshot()
    if snapshot is not None:
        assert snapshot.total_record_count == sum(e.file.row_count for e in entries)


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
    index = [one for one in table.index_files() if one.index_type == HASH]
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
        keys = key_hashes(_stored_rows(path_of(table, entry)), table.schema)
        assert set(keys.tolist()) <= hashes[entry.partition, entry.bucket], "a key is not in the index"


def check_vectors(table, entries):
    """Of each key one row above level 0 is not marked as deleted, and none is a delete: readers merge nothing."""
    merged = {e.file.file_name: e for e in entries if e.file.level > 0}
    vectors, seen = {}, set()
    for one in table.index_files():
        if one.index_type == DELETION_VECTORS:
            assert one.bucket_id not in seen, "two files of vectors of one bucket"
            seen.add(one.bucket_id)
            vectors |= {of["f0"]: (one, of["_CARDINALITY"]) for of in one.deletion_vectors}
    for name, (one, count) in vectors.items():
        assert merged[name].file.row_count >= count > 0
        assert (merged[name].partition, merged[name].bucket) == one.bucket_id
    assert not any(e.file.delete_row_count for e in merged.values())


# Where the ids of columns are; Avro files have none.
_IDS = {"parquet": b"PARQUET:field_id", "orc": b"paimon.id", "avro": None}


def _avro_records(path):
    """Records as fastavro decodes them; it lacks the compression."""
    with open(path, "rb") as file:
        schema, blocks = avro_container.open_container(file, os.path.getsize(path))
        record = fastavro.parse_schema(json.loads(schema))
        found = []
        for count, data in blocks:
            stream = io.BytesIO(data)
            found += [fastavro.schemaless_reader(stream, record, None) for _ in range(count)]
            assert stream.tell() == len(data)
        return found


def _stored_rows(path):
    if path.endswith(".avro"):
        return pa.Table.from_pylist(_avro_records(path))
    return orc.read_table(path) if path.endswith(".orc") else pq.ParquetFile(path).read()


def check_file(table, entry):
    """One live file against its metadata: size, rows, order, keys, bucket, sequence numbers, deletes, bounds."""
    file, schema = entry.file, table.schemas.load(entry.file.schema_id)
    path = path_of(table, entry)
    assert os.path.getsize(path) == file.file_size
    rows = _stored_rows(path)
    assert rows.num_rows == file.row_count > 0
    for field in rows.schema:
        assert _IDS[file.format] in (field.metadata or {None}), field.name
    partition = dict(zip(schema.partition_keys, PartitionFormat(schema).decode(entry.partition), strict=True))
    for name, value in partition.items():
        if value is UNKNOWN:
            continue  # the partition is one of before
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


def _without_zone(value):
    """Avro files of Paimon call the two kinds of timestamps by each other's names."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _time(millis):
    return (datetime.min + timedelta(milliseconds=millis)).time()


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
            if getattr(field.type, "root", "") == "TIME":
                values = [_time(v) if isinstance(v, int) else v for v in values]
            bounds = _without_zone(least), _without_zone(greatest)
            assert all(bounds[0] <= _without_zone(v) <= bounds[1] for v in values if v is not None), field.name
