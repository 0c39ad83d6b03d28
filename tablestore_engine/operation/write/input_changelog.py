"""The changelog of a write with `changelog-producer` = `input`: its rows as they came, each with its kind.

Rows come sorted by partition, bucket and key, as they do for data files. Nothing is merged.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_SOURCE_APPEND
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.files.rolling_writer import BucketFiles, RollingWriter
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN, ROW_KIND_COLUMN, WriteJob
from tablestore_engine.schema.types.system_columns import SEQUENCE_NUMBER, VALUE_KIND, key_field


def records_input(job: WriteJob) -> bool:
    """Whether the rows of a write are its changelog."""
    options = job.schema.core_options
    return options.change_tracking and options.changelog_producer == "input" and job.schema.is_keyed and not job.settled


class InputChangelog:
    """Writes the changelog files of one task."""

    def __init__(self, job: WriteJob, task: str) -> None:
        self._job = job
        self._task = task
        self._partitions = PartitionFormat(job.schema)
        self._bucket_id: tuple[bytes, int] | None = None
        self._writer: RollingWriter | None = None
        self._done: list[RollingWriter] = []
        self._index = 0
        self.entries: list[ManifestEntry] = []

    def write(self, group: pa.Table) -> None:
        """Take rows of one bucket."""
        schema = self._job.schema
        values: tuple[Any, ...] = tuple(group.column(name)[0].as_py() for name in schema.partition_keys)
        bucket_id = self._partitions.encode(values), group.column(BUCKET_COLUMN)[0].as_py()
        if bucket_id != self._bucket_id:
            self._finish()
            path = self._partitions.path(values) if values else ""
            bucket_files = BucketFiles(path, bucket_id[1], 0, FILE_SOURCE_APPEND, changelog=True)
            self._bucket_id = bucket_id
            self._writer = RollingWriter(self._job.target, bucket_files, self._task, self._index)
        assert self._writer is not None
        self._writer.write(self._records(group))

    def close(self) -> list[ManifestEntry]:
        """The files."""
        self._finish()
        return self.entries

    def abort(self) -> None:
        """Remove what was written."""
        for writer in [*self._done, *([self._writer] if self._writer else [])]:
            writer.abort()

    def _finish(self) -> None:
        if self._writer is None or self._bucket_id is None:
            return
        partition, bucket = self._bucket_id
        total = self._job.buckets_of(partition)
        files = self._writer.close()
        self.entries += [ManifestEntry(FileKind.ADD, partition, bucket, total, file) for file in files]
        self._index = self._writer.next_index
        self._done.append(self._writer)
        self._writer = None

    def _records(self, group: pa.Table) -> pa.Table:
        schema, rows = self._job.schema, group.num_rows
        kinds = pa.repeat(pa.scalar(0, pa.int8()), rows)
        if ROW_KIND_COLUMN in group.column_names:
            kinds = group.column(ROW_KIND_COLUMN).cast(pa.int8())
        found = group.select(list(schema.field_names))
        for field in schema.trimmed_key_fields:
            found = found.append_column(key_field(field).name, group.column(field.name))
        numbers = pa.repeat(pa.scalar(self._job.sequence_number, pa.int64()), rows)
        return found.append_column(SEQUENCE_NUMBER.name, numbers).append_column(VALUE_KIND.name, kinds)
