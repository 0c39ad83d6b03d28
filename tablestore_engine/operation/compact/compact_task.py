"""One task of a compaction: the files of a bucket that become one run; and what tasks have made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.index_change import BucketId, BucketVectors
from tablestore_engine.operation.files.data_file_reader import StoredFile
from tablestore_engine.operation.files.deletion_vectors import Deletions
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.schema.casts.cast_old_columns import stays_stored
from tablestore_engine.schema.table.table_schema import TableSchema

Files = tuple[DataFileMeta, ...]


def casts_values(past: TableSchema, schema: TableSchema) -> bool:
    """Whether values of files with a past schema may be others in a schema, which casts them to its types."""
    now = {one.id: one.type for one in schema.fields}
    return not all(stays_stored(one.type, now.get(one.id, one.type)) for one in past.fields)


@dataclass(frozen=True)
class CompactTask:
    """Merge `files` of one bucket into one run. `schemas` holds the schemas the files were written with.

    `rest` are the other files of the bucket, for sums that do not fit their column in part but do as a whole: then all
    files are merged; in tables with deletion vectors, where the old rows of merged keys are marked as deleted, and are
    merged where they count (`TableSchema.merges_old_rows`);
    where the first record of a key stays, which these files may hold; and where a retraction needs a row to take back,
    which they may hold.
    `deletions` are the deleted rows of the bucket so far.
    """

    target: WriteTarget
    schemas: Mapping[int, TableSchema]
    partition: bytes
    partition_path: str
    bucket: int
    total_buckets: int
    files: tuple[DataFileMeta, ...]
    output: MergeOutput
    rest: Files = ()
    deletions: Deletions = field(default_factory=dict)

    def stored(self, file: DataFileMeta) -> StoredFile:
        """A file of the bucket, to read."""
        schemas = {**self.schemas, self.target.schema.id: self.target.schema}
        directory = self.target.paths.bucket_dir(self.partition_path, self.bucket)
        return StoredFile(file.path_in(directory), file.file_size, schemas[file.schema_id])

    def of_bucket(self) -> CompactTask:
        """The task that merges all files of the bucket, `rest` among them."""
        files, schema = (*self.files, *self.rest), self.target.schema
        top = max(schema.core_options.num_levels - 1, *(f.level for f in files))
        return replace(
            self, files=files, rest=(), output=MergeOutput.of_all_runs(top, keep_deletes=schema.keeps_deletes)
        )

    def with_own_deletions(self) -> CompactTask:
        """The task without what it does not read of the deleted rows: a bucket may have many tasks, which travel."""
        names = (f.file_name for f in (*self.files, *self.rest))
        return replace(self, deletions={name: self.deletions[name] for name in names if name in self.deletions})


@dataclass(frozen=True)
class Compacted:
    """The result of tasks: DELETE and ADD entries of their files, and the deletion vectors that belong to them, where
    a table with a key has these."""

    entries: list[ManifestEntry]
    vectors: Mapping[BucketId, BucketVectors] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Iterable[Compacted]) -> Compacted:
        """The result of several tasks."""
        entries: list[ManifestEntry] = []
        vectors: dict[BucketId, BucketVectors] = {}
        for one in parts:
            entries += one.entries
            vectors |= one.vectors
        return cls(entries, vectors)


Execute = Callable[[Sequence[CompactTask]], Compacted]
"""Runs tasks, and returns what they have made."""
