"""Files of tables: their paths, and made-up ones for decisions that read none."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace

from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS, DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.metadata_files import manifest_store


def path_of(table, entry):
    """The path of a live file."""
    return EntryPaths(table.paths, table.schema).data_file(entry)


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


def live_entries(table, snapshot=None):
    """The entries of a snapshot's files by path, by default of the latest one."""
    return {path_of(table, entry): entry for entry in table.live_files(snapshot)}


def kept_paths(table):
    """Paths of the data files that snapshots and tags need, as their manifests on disk say."""
    manifest_store._cache.clear()
    return {path for snapshot in _kept(table) for path in live_paths(table, snapshot)}


def kept_manifests(table):
    """Names of the manifests that snapshots and tags name, and of the lists that name these."""
    lists = {name for one in _kept(table) for name in (one.base_manifest_list, one.delta_manifest_list)}
    return lists | {one.file_name for name in lists for one in table.manifests.read_list(name)}


def _kept(table):
    return [*table.snapshots(), *table.tags.all().values()]


def meta(name="f", *, level=0, size=100, low=0, high=0, sequence=0, deletes=0, rows=1, key_types=None):
    """A made-up data file whose key is one BIGINT from `low` to `high`."""
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


def remove(entry):
    """The DELETE entry of a live file."""
    return replace(entry, kind=FileKind.DELETE)


def levels(table):
    """The levels of the live files, sorted."""
    return sorted(entry.file.level for entry in table.live_files())


def holds_retractions(table):
    """Whether a live file holds records that take rows away."""
    return any(entry.file.delete_row_count for entry in table.live_files())


def files_read(table, predicate):
    """How many files a read with a predicate opens."""
    return len(table.scan(predicate=predicate).files)


def digest_of(path):
    """Of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()
