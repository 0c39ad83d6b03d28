"""The only place that touches files: file access, names, and the stores of snapshots, schemas and manifests."""

from __future__ import annotations

from tablestore_engine.storage.file_io import FileIO, FileStatus, LocalFileIO
from tablestore_engine.storage.manifests import ManifestStore
from tablestore_engine.storage.paths import TablePaths, WarehousePaths
from tablestore_engine.storage.schemas import SchemaStore
from tablestore_engine.storage.snapshots import SnapshotStore

__all__ = [
    "FileIO",
    "FileStatus",
    "LocalFileIO",
    "ManifestStore",
    "SchemaStore",
    "SnapshotStore",
    "TablePaths",
    "WarehousePaths",
]
