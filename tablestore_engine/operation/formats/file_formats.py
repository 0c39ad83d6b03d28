"""The formats that data files may have, by the end of their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from tablestore_engine.errors import CorruptDataError, StorageError
from tablestore_engine.metadata.manifest_encoding.damaged_bytes import reason_of
from tablestore_engine.metadata.manifest_encoding.data_file_meta import format_of
from tablestore_engine.operation.formats.avro_file import AvroWriter, read_avro
from tablestore_engine.operation.formats.file_format import DEFAULT_SIZES, BatchSizes, FileLayout, FormatWriter
from tablestore_engine.operation.formats.orc_file import OrcWriter, read_orc
from tablestore_engine.operation.formats.parquet_file import ParquetWriter, read_parquet
from tablestore_engine.storage.file_io import FileIO

_READERS = {"parquet": read_parquet, "orc": read_orc, "avro": read_avro}
_TITLES = {"parquet": "Parquet", "orc": "ORC", "avro": "Avro"}


def open_writer(file_format: str, sink: pa.NativeFile, layout: FileLayout, first: pa.Table) -> FormatWriter:
    """A writer of a format. `first` are the first rows, by which it may choose how columns are encoded."""
    if file_format == "orc":
        return OrcWriter(sink, layout)
    if file_format == "avro":
        return AvroWriter(sink, layout)
    return ParquetWriter(sink, layout, first)


def read_stored(
    io: FileIO, path: str, size: int, columns: Mapping[str, pa.DataType], sizes: BatchSizes = DEFAULT_SIZES
) -> Iterator[pa.RecordBatch]:
    """Columns of a data file as it was written: their names in the file, and the Arrow types of the table at that time.

    `size` are the bytes that it was written with. A column that the file does not have is left out.

    Raises:
        CorruptDataError: the file is damaged; names it.
        StorageError: it cannot be read.
    """
    with read_errors(path), io.open_input(path) as handle:
        if format_of(path) == "avro" and handle.size() != size:  # the others end in a footer
            raise CorruptDataError(path, f"it has {handle.size():,} bytes, and was written with {size:,}")
        yield from _READERS[format_of(path)](handle, columns, sizes)


@contextmanager
def read_errors(path: str) -> Iterator[None]:
    """Arrow's errors about a data file, as errors of the engine.

    Raises:
        CorruptDataError: the file is damaged; names it.
        StorageError: it cannot be read.
    """
    file_format = format_of(path)
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise StorageError.of(path, error) from error
        # So Arrow speaks of pages that it cannot decode.
        raise CorruptDataError(path, _unreadable(file_format, error)) from error
    except (pa.ArrowException, ValueError) as error:
        raise CorruptDataError(path, _unreadable(file_format, error)) from error


def _unreadable(file_format: str, error: Exception) -> str:
    return f"it is not a readable {_TITLES[file_format]} file ({reason_of(error)})"
