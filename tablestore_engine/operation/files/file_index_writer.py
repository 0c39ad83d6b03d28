"""The file index of a data file that is being written: fed with its rows, then kept in the manifest or in a file.

Memory is the bits of bloom filters, and the number of its value for each row of a column with a bitmap index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.metadata.file_index.bitmap_index import BitmapIndexBuilder
from tablestore_engine.metadata.file_index.bloom_filter import BloomFilterBuilder
from tablestore_engine.metadata.file_index.container import write_container
from tablestore_engine.schema.table.indexed_columns import BLOOM_FILTER, IndexedColumn, indexed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.file_io import FileIO


class FileIndexBuilder:
    """Takes the rows of one data file in their order."""

    def __init__(self, columns: Sequence[IndexedColumn]) -> None:
        self._builders = [(one, _builder(one)) for one in columns]

    @classmethod
    def of(cls, schema: TableSchema) -> FileIndexBuilder | None:
        """For files with a schema; None when it has no indexes.

        Raises:
            OptionError: another writer has set options that no writer can follow.
        """
        columns = indexed_columns(schema.core_options, schema.fields)
        return cls(columns) if columns else None

    def add(self, rows: pa.Table) -> None:
        """Take rows with at least the indexed columns."""
        for one, builder in self._builders:
            column = rows.column(one.column)
            builder.add(column if one.map_key is None else pc.map_lookup(column, pa.scalar(one.map_key), "first"))

    def close(self) -> bytes:
        """The index."""
        indexes: dict[str, dict[str, bytes]] = {}
        for one, builder in self._builders:
            indexes.setdefault(one.name, {})[one.kind] = builder.close()
        return write_container(indexes)


def _builder(column: IndexedColumn) -> BloomFilterBuilder | BitmapIndexBuilder:
    if column.kind == BLOOM_FILTER:
        return BloomFilterBuilder(column.type, column.items, column.fpp)
    return BitmapIndexBuilder(column.type, column.version, column.block_bytes)


@dataclass(frozen=True)
class StoredIndex:
    """Where the index of a data file is kept: in the manifest (`embedded`), or in side files (`extra_files`)."""

    embedded: bytes | None = None
    extra_files: tuple[str, ...] = ()


NO_INDEX = StoredIndex()


def store_index(io: FileIO, directory: str, name: str, data: bytes, threshold: int) -> StoredIndex:
    """Keep an index; one of more bytes than the threshold gets a file with a name.

    Raises:
        StorageError: the file cannot be written.
    """
    if len(data) <= threshold:
        return StoredIndex(embedded=data)
    io.write(f"{directory}/{name}", data)
    return StoredIndex(extra_files=(name,))
