"""Rows that do not fit into memory: sorted runs in one file of this machine.

The file loses its name as soon as it is open, so nothing is left of it, however the process ends.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import pyarrow as pa

from tablestore_engine.errors import StorageError

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class SpilledRun:
    """Where a run begins and ends in its file, in bytes."""

    start: int
    end: int


class SpillFile:
    """Runs of record batches, written one after the other and read in any order, several at a time."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0

    def write(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> SpilledRun:
        """Add a run.

        Raises:
            StorageError: the disk for temporary files is full or fails.
        """
        with _spilling():
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="tablestore-spill-")  # noqa: SIM115 - open as long as this object
            start = self._end
            with pa.ipc.new_stream(self._file, schema, options=_OPTIONS) as stream:
                for batch in batches:
                    stream.write_batch(batch)
            self._file.flush()
            self._end = self._file.tell()
        return SpilledRun(start, self._end)

    def read(self, run: SpilledRun) -> Iterator[pa.RecordBatch]:
        """The batches of a run."""
        assert self._file is not None, "nothing was spilled"
        with _spilling():
            yield from pa.ipc.open_stream(_Section(self._file.fileno(), run))

    def close(self) -> None:
        """Free the disk space."""
        if self._file is not None:
            self._file.close()
            self._file = None


class _Section(io.RawIOBase):
    """A part of a file, with a position of its own."""

    def __init__(self, descriptor: int, run: SpilledRun) -> None:
        super().__init__()
        self._descriptor, self._at, self._end = descriptor, run.start, run.end

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._at
        data = os.pread(self._descriptor, left if size < 0 else min(size, left), self._at)
        self._at += len(data)
        return data


@contextmanager
def _spilling() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            tempfile.gettempdir(),
            f"rows cannot be spilled ({error.strerror or error})",
            hint="Make room there, or name another folder in the environment variable TMPDIR.",
        ) from error
