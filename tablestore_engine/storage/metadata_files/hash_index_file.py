"""HASH index files: the hashes of the keys of one dynamic bucket, as big-endian 32-bit integers one after the other.

Invariant: a file that is written here is sorted and holds a hash once. Other writers sort nothing, so reading sorts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.storage.file_io import FileIO

Hashes = np.ndarray[Any, np.dtype[np.int32]]
WIDTH = 4
NO_HASHES: Hashes = np.zeros(0, dtype=np.int32)


def read_hashes(io: FileIO, path: str, count: int | None = None) -> Hashes:
    """The hashes of a file, sorted and each once. `count`: how many there are, by the index manifest.

    Raises:
        CorruptMetadataError: the file ends in the middle of a hash, or has another number of them.
        StorageError: it cannot be read.
    """
    data = io.read(path)
    if len(data) % WIDTH:
        raise CorruptMetadataError(path, f"{len(data)} bytes are not whole hashes of {WIDTH} bytes")
    hashes: Hashes = np.frombuffer(data, dtype=">i4").astype(np.int32)
    if len(hashes) > 1 and not bool((hashes[1:] > hashes[:-1]).all()):
        hashes = np.unique(hashes)
    if count is not None and len(hashes) != count:
        raise CorruptMetadataError(path, f"it has {len(hashes)} different hashes, its manifest says {count}")
    return hashes


def write_hashes(io: FileIO, path: str, hashes: Hashes) -> int:
    """Write sorted hashes as a file. Returns its size in bytes."""
    data = hashes.astype(">i4").tobytes()
    io.write(path, data)
    return len(data)


def contains(hashes: Hashes, wanted: Hashes) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each wanted hash whether the sorted `hashes` contain it."""
    if not len(hashes):
        return np.zeros(len(wanted), dtype=np.bool_)
    at = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    found: np.ndarray[Any, np.dtype[np.bool_]] = hashes[at] == wanted
    return found
