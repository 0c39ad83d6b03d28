"""The paths of the files that entries of manifests name."""

from __future__ import annotations

from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.paths import TablePaths


class EntryPaths:
    """Where the files of entries are. `schema` is one of the table's; it says how partitions are named."""

    def __init__(self, paths: TablePaths, schema: TableSchema) -> None:
        self._paths = paths
        self._partitions = PartitionFormat(schema)

    def bucket_dir(self, partition: bytes, bucket: int) -> str:
        """The directory of a bucket, whose partition is given as a BinaryRow."""
        return self._paths.bucket_dir(self._partitions.path_of(partition), bucket)

    def data_file(self, entry: ManifestEntry) -> str:
        """The path of an entry's data file."""
        return entry.file.path_in(self.bucket_dir(entry.partition, entry.bucket))

    def all_files(self, entry: ManifestEntry) -> list[str]:
        """The paths of the data file and of its side files, which are in the directory of the data file."""
        path = self.data_file(entry)
        return [path, *(f"{path.rpartition('/')[0]}/{name}" for name in entry.file.extra_files)]
