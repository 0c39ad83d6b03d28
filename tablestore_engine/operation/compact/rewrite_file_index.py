"""Making the file indexes of live files anew, as the options of the table say now; the rows stay where they are.

A task is that of a compaction: its files are removed, and added again with another index.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.compact.compact_task import Compacted, CompactTask
from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.files.file_index_writer import (
    NO_INDEX,
    FileIndexBuilder,
    StoredIndex,
    store_index,
)
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.schema.table.indexed_columns import IndexedColumn, indexed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import AtomicType, MapType
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore


def plan_rewrite(buckets: Iterable[BucketScan], target: WriteTarget, schemas: SchemaStore) -> list[CompactTask]:
    """A task for each bucket."""
    return [
        CompactTask(
            target=target,
            schemas={number: schemas.load(number) for number in {f.schema_id for f in one.files}},
            partition=one.partition_row,
            partition_path=one.partition_path,
            bucket=one.bucket,
            total_buckets=one.total_buckets,
            files=one.files,
            output=MergeOutput(0),
            deletions=one.deletions,
        )
        for one in buckets
    ]


def rewrite_index(task: CompactTask, task_name: str) -> Compacted:
    """Execute a task. Its entries are of the files whose index is another one now.

    They keep their names, so their deletion vectors stay.
    """
    entries = []
    for number, file in enumerate(task.files):
        index = _index_of(task, file, f"{task_name}{number}")
        others = tuple(name for name in file.extra_files if name != file.index_file)
        changed = replace(file, embedded_index=index.embedded, extra_files=(*others, *index.extra_files))
        if changed != file:
            entries += [
                ManifestEntry(kind, task.partition, task.bucket, task.total_buckets, one)
                for kind, one in ((FileKind.DELETE, file), (FileKind.ADD, changed))
            ]
    return Compacted(entries)


def _index_of(task: CompactTask, file: DataFileMeta, unique: str) -> StoredIndex:
    own = task.schemas[file.schema_id]
    columns = _columns_in(own, task.target.schema)
    if not columns:
        return NO_INDEX
    target = task.target
    directory = target.paths.bucket_dir(task.partition_path, task.bucket)
    path = file.path_in(directory)
    builder = FileIndexBuilder(columns)
    names = FileColumns(tuple(dict.fromkeys(one.column for one in columns)))
    for batch in read_batches(target.io, StoredFile(path, file.file_size, own), own, names):
        builder.add(pa.Table.from_batches([batch]))
    name = target.paths.new_file_index_name(file.file_name, f"{target.write_id}-{unique}")
    folder = path.rpartition("/")[0]
    return store_index(target.io, folder, name, builder.close(), target.schema.core_options.file_index_threshold)


def _columns_in(own: TableSchema, current: TableSchema) -> list[IndexedColumn]:
    """The columns to index, by the names and types of the schema of a file; without those that it does not have."""
    by_id = {one.id: one for one in own.fields}
    found = []
    for one in indexed_columns(current.core_options, current.fields):
        field = by_id.get(current.field(one.column).id)
        if field is None:
            continue
        data_type = field.type.value if isinstance(field.type, MapType) else field.type
        if isinstance(data_type, AtomicType):
            found.append(replace(one, column=field.name, type=data_type))
    return found
