"""The file index of a data file of a table: its bytes, from the manifest or from the index file.

Only the parts that a question needs are read: the head, and some bytes of each index.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.metadata.file_index.byte_source import BytesInMemory, ByteSource
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.storage.file_io import FileIO


@dataclass(frozen=True)
class _OpenIndex:
    file: object
    path: str

    def read_at(self, offset: int, length: int) -> bytes:
        """See `ByteSource.read_at`."""
        try:
            self.file.seek(offset)  # type: ignore[attr-defined]
            data: bytes = self.file.read(length)  # type: ignore[attr-defined]
        except OSError as error:
            raise StorageError.of(self.path, error) from error
        return data


@contextmanager
def opened_index(io: FileIO, directory: str, file: DataFileMeta) -> Iterator[ByteSource | None]:
    """The index of a data file in a directory; None where it has none.

    Raises:
        StorageError: it cannot be read.
        CorruptMetadataError: what reads it finds it damaged, by a ValueError; names the file.
    """
    name = file.index_file
    path = f"{file.path_in(directory).rpartition('/')[0]}/{name or file.file_name}"
    try:
        if file.embedded_index is not None:
            yield BytesInMemory(file.embedded_index)
        elif name is None:
            yield None
        else:
            with io.open_input(path) as opened:
                yield _OpenIndex(opened, path)
    except ValueError as error:
        raise CorruptMetadataError(
            path,
            f"its file index is damaged: {error}",
            hint="CALL sys.rewrite_file_index makes it anew; 'file-index.read.enabled' = 'false' reads without it.",
        ) from error
