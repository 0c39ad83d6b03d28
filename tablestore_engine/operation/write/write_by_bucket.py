"""The files of one task of a write: rows sorted by bucket, each bucket into its own files.

Invariant: only the files of one bucket are open, and a bucket that was closed is not opened again. Rows of a sequence
layer (`mergetree.merge.sequence_layers`), and retractions of a multiset table, are written to separate files.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import StorageError, UserError
from tablestore_engine.mergetree.merge.fold_records import fold_sorted
from tablestore_engine.mergetree.merge.merge_runs import last_of_key_mask
from tablestore_engine.mergetree.merge.sequence_layers import LAYER_COLUMN, MOST_LAYERS
from tablestore_engine.mergetree.multiset.retractions import settled
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_APPEND
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.dynamic_buckets.hash_index import HashIndex
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.files.rolling_writer import BucketFiles, RollingWriter
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN, ROW_KIND_COLUMN, WriteJob, WriteResult
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import SEQUENCE_NUMBER, VALUE_KIND, key_field

_RETRACTIONS = 1  # the layer after that of the rows


class BucketSwitch:
    """Sends groups to the writer of their bucket; only one bucket is open, because groups are sorted."""

    def __init__(self, job: WriteJob, task: str) -> None:
        self.result = WriteResult()
        self._job = job
        self._task = task
        self._index = 0
        self._bucket_id: tuple[bytes, int] | None = None
        self._writers: list[RollingWriter] = []  # by layer; without a key: of rows, and of retractions
        self._hash_index: HashIndex | None = None
        self._level = 0
        self._path = ""
        self._done: list[RollingWriter] = []
        self._seen: set[tuple[bytes, int]] = set()
        schema = job.schema
        self._partitions = PartitionFormat(schema)
        self._renames = [(f.name, key_field(f).name) for f in schema.trimmed_key_fields]

    def write(self, group: pa.Table) -> None:
        schema = self._job.schema
        values = tuple(group.column(name)[0].as_py() for name in schema.partition_keys)
        bucket_id = self._partitions.encode(values), group.column(BUCKET_COLUMN)[0].as_py()
        if bucket_id != self._bucket_id:
            if bucket_id in self._seen:
                raise AssertionError(f"rows of bucket {bucket_id[1]} are not in one piece: they came unsorted")
            self._seen.add(bucket_id)
            self._finish()
            self._open(bucket_id, values, layered=LAYER_COLUMN in group.column_names)
        if not schema.primary_keys:
            self._write_unkeyed(group)
            return
        if LAYER_COLUMN not in group.column_names:
            self._write_layer(group, 0)
            return
        layers = group.column(LAYER_COLUMN).to_numpy()
        group = group.drop_columns([LAYER_COLUMN])
        if self._level:
            # The bucket was empty, or will be: these are all records of their keys.
            last = last_of_key_mask(group, schema.trimmed_primary_keys)
            self._write_layer(fold_sorted(group, last, schema.merge_engine, ROW_KIND_COLUMN), 0)
            return
        if layers.max() >= MOST_LAYERS:
            raise _too_many_layers(group.filter(pa.array(layers == layers.max())), schema)
        for layer in range(int(layers.max()) + 1):
            self._write_layer(group.filter(pa.array(layers == layer)), layer)

    def _write_unkeyed(self, group: pa.Table) -> None:
        """Write the rows that a group adds, and its retractions."""
        taken = None
        if ROW_KIND_COLUMN in group.column_names:
            retracts = pc.equal(pc.bit_wise_and(group.column(ROW_KIND_COLUMN), 1), 1).to_numpy()
            group, taken = settled(group.select(list(self._job.schema.field_names)), retracts)
        self._write_layer(group, 0)
        if taken is not None:
            self._write_layer(taken, _RETRACTIONS)

    def _write_layer(self, group: pa.Table, layer: int) -> None:
        while len(self._writers) <= layer:
            self._writers.append(self._new_writer(len(self._writers)))
        rows = self._file_rows(group, layer)
        self.result.rows_out += rows.num_rows
        self._writers[layer].write(rows)
        if self._hash_index is not None:
            self._hash_index.add(rows)

    def close(self) -> WriteResult:
        self._finish()
        return self.result

    def abort(self) -> None:
        for writer in [*self._done, *self._writers]:
            writer.abort()
        for entry in self.result.index:
            with suppress(StorageError):
                self._job.target.io.delete(index_path(self._job.target.paths, self._job.schema, entry))

    def _open(self, bucket_id: tuple[bytes, int], values: Sequence[Any], *, layered: bool) -> None:
        self._level = self._job.level_of(*bucket_id, layered=layered)
        self._bucket_id = bucket_id
        self._path = self._partitions.path(values) if values else ""
        if self._job.dynamic is not None:
            self._job.dynamic.check_sought(bucket_id[0], self._path)
            self._hash_index = HashIndex(self._job.target, bucket_id, self._job.dynamic.entry(*bucket_id))

    def _new_writer(self, layer: int) -> RollingWriter:
        assert self._bucket_id is not None
        retractions = not self._job.schema.primary_keys and layer == _RETRACTIONS
        name = "r" if retractions else f"l{layer}-"
        files = BucketFiles(self._path, self._bucket_id[1], self._level, FILE_SOURCE_APPEND, retractions)
        return RollingWriter(self._job.target, files, f"{self._task}{name}" if layer else self._task, self._index)

    def _finish(self) -> None:
        if self._bucket_id is None:
            return
        partition, bucket = self._bucket_id
        total = self._job.buckets_of(partition)
        index, wrote = self._index, False
        for writer in self._writers:
            files = writer.close()
            wrote = wrote or bool(files)
            self.result.entries += [ManifestEntry(FileKind.ADD, partition, bucket, total, f) for f in files]
            self._index = max(self._index, writer.next_index)
        self._done.extend(self._writers)
        if wrote and self._hash_index is not None:
            grown = self._hash_index.close(f"{self._task}{index}")
            self.result.index += [grown] if grown else []
        self._writers, self._hash_index, self._bucket_id = [], None, None

    def _file_rows(self, group: pa.Table, layer: int) -> pa.Table:
        schema = self._job.schema
        if not schema.primary_keys:
            return group
        kinds = (
            group.column(ROW_KIND_COLUMN)
            if ROW_KIND_COLUMN in group.column_names
            else pa.chunked_array([pa.repeat(pa.scalar(0, pa.int8()), group.num_rows)])
        )
        for name, key_name in self._renames:
            group = group.append_column(key_name, group.column(name))
        sequence = pa.repeat(pa.scalar(self._job.sequence_number + layer, pa.int64()), group.num_rows)
        return group.append_column(SEQUENCE_NUMBER.name, sequence).append_column(VALUE_KIND.name, kinds)


def _too_many_layers(rows: pa.Table, schema: TableSchema) -> UserError:
    key = rows.select(list(schema.primary_keys)).slice(0, 1).to_pylist()[0]
    shown = ", ".join(f"{k}={v!r}" for k, v in key.items())
    return UserError(
        f"More than {MOST_LAYERS} records of one key are to be written at once that fold in order only: {shown}.",
        hint="Write them in parts. A product of DOUBLE, or of DECIMAL without digits "
        "after the point, folds in any order.",
    )
