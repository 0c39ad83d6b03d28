"""`python -m benchmarks.write_buffer`: memory and files of a writer that takes rows in any order.

Writes a million rows, as record batches, to a table of one partition and of 500, with a buffer that holds a part of
them: with rows that are spilled and merged, and with files that are written when the buffer is full. Each write is a
process of its own, because a pool's maximum is never reset.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tablestore_engine import TableStore

ROWS, BATCH_ROWS = 1_000_000, 20_000
BUFFER = "8 mb"
CASES = [(partitions, spills) for partitions in (1, 500) for spills in (True, False)]
_MIB = 1 << 20


def main() -> None:
    """Print a line for each case."""
    for partitions, spills in CASES:
        subprocess.run([sys.executable, "-m", __spec__.name, str(partitions), str(spills)], check=True)


def measure(partitions: int, *, spills: bool) -> None:
    """Write the rows, and print what it took."""
    options = {"bucket": 1, "write-only": "true", "write-buffer-spillable": spills}
    options |= {"write-buffer-size": BUFFER, "write-buffer-total-size": BUFFER}
    with tempfile.TemporaryDirectory(prefix="tablestore-buffer-") as work:
        columns = {"p": "int", "id": "bigint", "v": "string"}
        table = TableStore(work).create_table("t", columns, primary_key=["p", "id"], partition_by="p", options=options)
        start = time.perf_counter()
        table.write(_batches(partitions))
        seconds, files = time.perf_counter() - start, len(table.live_files())
        print(
            f"{partitions} partitions, {'spilled' if spills else 'flushed'}: {files:,} files,"
            f" {pa.default_memory_pool().max_memory() / _MIB:.1f} MiB of Arrow memory at most, {seconds:.1f} s"
        )


def _batches(partitions: int) -> Iterator[pa.RecordBatch]:
    """Rows whose keys come in no order."""
    for start in range(0, ROWS, BATCH_ROWS):
        ids = (np.arange(start, start + BATCH_ROWS, dtype=np.int64) * 7919) % (1 << 22)
        columns = {"p": pa.array(ids % partitions, pa.int32()), "id": pa.array(ids), "v": pa.array(ids).cast("string")}
        yield pa.record_batch(columns)


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(int(sys.argv[1]), spills=sys.argv[2] == "True")
    else:
        main()
