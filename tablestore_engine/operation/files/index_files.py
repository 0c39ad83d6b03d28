"""The paths of index files, and the index files that snapshots name."""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.metadata.manifest_encoding.data_file_meta import plain_path
from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.manifest_store import ManifestStore
from tablestore_engine.storage.paths import TablePaths


def index_path(paths: TablePaths, schema: TableSchema, entry: IndexEntry) -> str:
    """The path of an index file: in the table's index directory, or, if its option says so, next to the data."""
    if entry.external_path:
        return plain_path(entry.external_path)
    if schema.core_options.index_file_in_data_file_dir:
        return f"{EntryPaths(paths, schema).bucket_dir(entry.partition, entry.bucket)}/{entry.file_name}"
    return paths.index_file(entry.file_name)


def index_entries(manifests: ManifestStore, snapshot: Snapshot | None) -> list[IndexEntry]:
    """All index files of a snapshot."""
    if snapshot is None or snapshot.index_manifest is None:
        return []
    return manifests.read_index(snapshot.index_manifest)


def index_paths(
    manifests: ManifestStore, paths: TablePaths, schema: TableSchema, snapshots: Iterable[Snapshot]
) -> set[str]:
    """The paths of all index files of some snapshots; `schema` is one of the table's."""
    names = {s.index_manifest for s in snapshots if s.index_manifest is not None}
    return {index_path(paths, schema, e) for name in sorted(names) for e in manifests.read_index(name)}
