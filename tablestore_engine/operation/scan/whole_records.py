"""Records of the levels above 0 that a read leaves out, because one at a lower such level holds what they hold.

With `changelog-producer` = lookup or `force-lookup`, a compaction of another tool looks up the older records of its
keys and writes what all of them are together, while the file that held them stays (`TableSchema.holds_whole_records`).
Where columns are folded, the older ones would count twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from tablestore_engine.mergetree.compaction.sections import Section
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import FileColumns, positions_of_keys, read_batches
from tablestore_engine.operation.files.deletion_vectors import DeletedRows, Deletions
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.scan.scan_plan import BucketScan, sections_of, stored_file
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.table_state import TableState

_MOST_BYTES = 32 << 20

_known: RecentlyUsed[Hashable, Deletions] = RecentlyUsed(
    _MOST_BYTES, lambda found: 100 + sum(len(one.vector) for one in found.values())
)
"""By the files of a section: these never change."""


def with_whole_records(state: TableState, buckets: Iterable[BucketScan]) -> Sequence[BucketScan]:
    """Scans of buckets of a table, which leave those records out.

    Raises:
        CorruptDataError, StorageError: a file cannot be read.
    """
    schema = state.schema
    alone = schema.core_options.deletion_vectors  # they mark these records as deleted
    if alone or not schema.holds_whole_records or schema.merge_engine.rules.kept is not Kept.FOLD:
        return list(buckets)
    return [_without_older(state, bucket) for bucket in buckets]


def _without_older(state: TableState, bucket: BucketScan) -> BucketScan:
    found: dict[str, DeletedRows] = {}
    for section in sections_of([f for f in bucket.files if f.level > 0], state.schema):
        if not section.needs_merge:
            continue
        key = (state.paths.root, state.schema.id, tuple(file.file_name for file in section.files))
        known = _known.get(key)
        if known is None:
            known = dict(_older(state, bucket, section))
            _known.put(key, known)
        found.update(known)
    return replace(bucket, deletions={**bucket.deletions, **found}) if found else bucket


def _older(state: TableState, bucket: BucketScan, section: Section) -> Iterator[tuple[str, DeletedRows]]:
    """The rows of each file whose keys a run of a lower level has."""
    newer: list[pa.Table] = []
    for run in section.runs:
        if newer:
            keys = RowKeys(pa.concat_tables(newer))
            for file in run.files:
                stored = stored_file(state, bucket, file)
                rows = positions_of_keys(state.io, stored, state.schema, keys)
                if len(rows):
                    yield file.file_name, DeletedRows.of_rows(stored.path, rows)
        if run is not section.runs[-1]:
            newer += [_keys(state, bucket, file) for file in run.files]


def _keys(state: TableState, bucket: BucketScan, file: DataFileMeta) -> pa.Table:
    schema = state.schema
    kinds = pa.schema([(one.name, to_arrow_type(one.type)) for one in schema.trimmed_key_fields])
    batches = read_batches(state.io, stored_file(state, bucket, file), schema, FileColumns(schema.trimmed_primary_keys))
    return pa.Table.from_batches([one.cast(kinds) for one in batches], kinds)
