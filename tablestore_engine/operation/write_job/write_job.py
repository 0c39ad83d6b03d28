"""The values that the tasks of one write share, and those that they return.

A *write job* is everything a task must know; it travels to executors. Rows are the table's columns plus
`BUCKET_COLUMN` and, when they are not all inserts, `ROW_KIND_COLUMN` (0 +I, 1 -U, 2 +U, 3 -D); `ORDINAL_COLUMN` keeps
their order. A *write result* names the files of a task; readers do not see them before a commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tablestore_engine.errors import StorageError
from tablestore_engine.mergetree.merge.merge_runs import SortColumn
from tablestore_engine.mergetree.merge.sequence import sequence_columns
from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.dynamic_buckets.hash_index import DynamicBuckets
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.schema.merge_engines.engine_rules import Functions, Kept
from tablestore_engine.schema.table.table_schema import TableSchema

BUCKET_COLUMN = "__tablestore_bucket"
ROW_KIND_COLUMN = "__tablestore_row_kind"
ORDINAL_COLUMN = "__tablestore_ordinal"


@dataclass(frozen=True)
class WriteJob:
    """The values that the tasks of one write share.

    `total_buckets` is the number of buckets of a partition (-1: dynamic, or none); `partition_buckets` holds that of
    partitions that have another one. `dynamic` is the index of dynamic buckets, None for tables without one.
    `intent` is what the caller asks for, and `base_snapshot_id` the snapshot that the write is based on (0: none); the
    commit needs both.
    """

    target: WriteTarget
    total_buckets: int
    sequence_number: int
    occupied: frozenset[tuple[bytes, int]] = frozenset()
    row_level: bool = False  # rows computed from the table: a key occurs once, or is removed and added again
    bulk_load: bool = False  # keys that occur twice end this attempt, which did not keep the order of rows
    settled: bool = False  # rows of the table itself, which are rewritten: they are records already
    overwrites: bool = False  # its commit removes all that others have written to the buckets
    partition_buckets: Mapping[bytes, int] = field(default_factory=dict)
    dynamic: DynamicBuckets | None = None
    intent: WriteIntent = PLAIN
    base_snapshot_id: int = 0

    @property
    def schema(self) -> TableSchema:
        """The schema that rows are written with."""
        return self.target.schema

    @property
    def refuses_repeated(self) -> bool:
        """Whether a key that occurs twice in the rows is an error. Some merge engines fold the records of one key."""
        if self.bulk_load:
            return True
        rules = self.schema.merge_engine.rules
        if self.row_level and rules.functions is Functions.LAST:
            return True  # which of two values of a column is the last one would be left to chance
        return (self.intent.refuse_duplicates or self.row_level) and rules.kept is Kept.NEWEST

    def of_rows(self, columns: Sequence[str]) -> WriteJob:
        """The job for rows with these columns: in a changelog, a key may occur any number of times."""
        is_changelog = ROW_KIND_COLUMN in columns and not self.row_level
        return self._refusing(False) if is_changelog else self

    def as_bulk_load(self) -> WriteJob:
        """The job for rows whose keys are probably unique, of any merge engine: it fails if they are not, and the load
        is repeated in the order of its rows."""
        return replace(self, bulk_load=True)

    def of_unique_keys(self) -> WriteJob:
        """The job for rows of which no two may have one key, if the merge engine does not fold them."""
        return self._refusing(True)

    def _refusing(self, repeated: bool) -> WriteJob:
        return replace(self, intent=replace(self.intent, refuse_duplicates=repeated))

    def may_split_keys(self, columns: Sequence[str]) -> bool:
        """Whether a task may write rows of one key to several files. Then a later file wins over an earlier one, so
        rows must come in their order."""
        engine = self.schema.merge_engine
        in_order = ORDINAL_COLUMN not in columns
        return in_order and not (self.refuses_repeated or engine.folds_in_order or engine.stores_retractions)

    def buckets_of(self, partition: bytes) -> int:
        """The number of buckets of a partition."""
        return self.partition_buckets.get(partition, self.total_buckets)

    def level_of(self, partition: bytes, bucket: int, *, layered: bool = False) -> int:
        """Rows of an empty bucket are written to the top level, others to level 0.

        The records of sequence layers (`layered`) are folded for the top level, as if they were all of their keys. If
        others are first to fill a bucket, such a write conflicts; not so with deletion vectors, where all its files go
        to level 0 instead. Hence its layers are at level 0 from the beginning.
        """
        if not self.schema.primary_keys or (partition, bucket) in self.occupied:
            return 0
        if layered and self.schema.reads_files_alone and not self.overwrites:
            return 0
        return self.schema.core_options.num_levels - 1


@dataclass
class WriteResult:
    """Files of a write as ADD entries, new index files, changelog files of its input, and how many rows were given and
    written."""

    entries: list[ManifestEntry] = field(default_factory=list)
    index: list[IndexEntry] = field(default_factory=list)
    rows_in: int = 0
    rows_out: int = 0
    changelog: list[ManifestEntry] = field(default_factory=list)

    @property
    def rows_kept(self) -> int:
        """The number of rows of a table that has only these files."""
        return sum(e.file.row_count - (e.file.delete_row_count or 0) for e in self.entries)

    def add(self, other: WriteResult) -> None:
        """Fold in the result of another task."""
        self.entries.extend(other.entries)
        self.index.extend(other.index)
        self.changelog.extend(other.changelog)
        self.rows_in += other.rows_in
        self.rows_out += other.rows_out

    def add_repaired(self, job: WriteJob) -> None:
        """Add the index files that the write made for buckets without one, unless it replaced them."""
        bucket_ids = {e.bucket_id for e in self.index}
        for made in job.dynamic.repaired if job.dynamic else ():
            if made.bucket_id not in bucket_ids:
                self.index.append(made)
                continue
            with suppress(StorageError):
                job.target.io.delete(index_path(job.target.paths, job.schema, made))


def order_of_key(job: WriteJob) -> list[SortColumn]:
    """The columns that order the rows of one key in one write: sequence fields, then the order of the rows.

    The rows of a row-level operation have no order of their own; a row that replaces a deleted one comes after it.
    """
    return [*sequence_columns(job.schema), *row_level_order(job.row_level)]


def order_in_bucket(job: WriteJob) -> list[SortColumn]:
    """The columns that order the rows of a bucket when they come in any order: the key, the order of the rows of one
    key and, unless a key has one row only, their `ORDINAL_COLUMN`."""
    if not job.schema.primary_keys:
        return []
    order = [*map(SortColumn, job.schema.trimmed_primary_keys), *order_of_key(job)]
    return order if job.refuses_repeated else [*order, SortColumn(ORDINAL_COLUMN)]


def row_level_order(row_level: bool) -> list[SortColumn]:
    """The order of the rows of one key in a row-level operation: deletes come before additions."""
    return [SortColumn(ROW_KIND_COLUMN, descending=True)] if row_level else []
