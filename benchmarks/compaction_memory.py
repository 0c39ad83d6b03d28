"""`python -m benchmarks.compaction_memory`: the peak memory of a worker that compacts a bucket far larger than it.

Makes one bucket of several runs of random rows, `--times` as large on disk as the memory that is given, and merges it
in a process of its own that gets its task pickled, as a Spark worker does. The exit code is 1 when the worker held more
than it was given, its imports (Python, Arrow) included. Linux only.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.write.write_task import with_bucket, write_sorted
from tablestore_engine.operation.write_job.new_write import new_job
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.table import Table

_ROWS = 50_000  # of a table that is written
_ROW_BYTES = 100  # on disk, at least: random letters cannot be compressed much
_WORKER = """
import pickle, sys
from tablestore_engine.operation.compact.compact_bucket import run_compaction
def peak():  # of this process alone: getrusage includes its parent
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith("VmHWM"))
before = peak()
with open(sys.argv[1], "rb") as file:
    entries = run_compaction(pickle.load(file), "worker-").entries
print(before, peak(), sum(e.file.row_count for e in entries if e.kind == 0))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", type=int, default=640, help="MiB that the worker is given (default 640)")
    parser.add_argument("--times", type=float, default=4, help="size of the bucket in that memory (default 4)")
    parser.add_argument("--runs", type=int, default=5, help="runs of the bucket (default 5)")
    arguments = parser.parse_args()
    work = tempfile.mkdtemp(prefix="tablestore-memory-")
    try:
        return _measure(work, arguments.memory, arguments.times, arguments.runs)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _measure(work: str, memory: int, times: float, runs: int) -> int:
    rows = int(memory * times * (1 << 20) / _ROW_BYTES)
    table = _filled(work, rows // runs, runs)
    size = sum(e.file.file_size for e in table.live_files()) / (1 << 20)
    (task,) = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    path = os.path.join(work, "task")
    with open(path, "wb") as file:
        pickle.dump(task, file)
    start = time.perf_counter()
    finished = subprocess.run([sys.executable, "-c", _WORKER, path], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    before, peak, merged = (int(word) for word in finished.stdout.split())
    print(
        f"{runs} runs of {size:,.0f} MiB in one bucket became {merged:,} rows in {seconds:.1f} s; the worker held "
        f"{peak / 1024:.0f} MiB at most ({before / 1024:.0f} before it began): {size * 1024 / peak:.1f} times less."
    )
    return int(peak / 1024 > memory or size < memory * times)


def _filled(work: str, rows: int, runs: int) -> Table:
    columns = [("id", parse_type("BIGINT"), None), *((f"s{i}", parse_type("STRING"), None) for i in range(4))]
    schema = create_schema(columns, ["id"], [], {"bucket": "1", "write-only": "true"})
    table = Catalog(work).create_table("default", "t", schema)
    for run in range(runs):
        live = table.live_files()
        job = new_job(table.write_target(), live)
        result = write_sorted(job, _tables(job, rows, run, runs), f"{run}-")
        Committer(table.state).commit(Change("APPEND", tuple(result.entries)), new_identity(table.options))
    return table


def _tables(job: WriteJob, rows: int, run: int, runs: int) -> Iterator[pa.Table]:
    """Keys that are spread over the same range in every run, and every second one is also in the run before."""
    random = np.random.default_rng(run)
    for start in range(0, rows, _ROWS):
        number = min(_ROWS, rows - start)
        ids = np.arange(start, start + number, dtype=np.int64) * runs
        ids += np.where(ids // runs % 2 == 0, 0, run)
        columns = {"id": ids}
        for i in range(4):
            columns[f"s{i}"] = _texts(random, number)
        yield with_bucket(job, pa.table(columns))


def _texts(random: np.random.Generator, number: int) -> pa.Array:
    letters = random.integers(0x20, 0x7F, number * 32, dtype=np.uint8)
    offsets = np.arange(0, number * 32 + 1, 32, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), number, [None, pa.py_buffer(offsets), pa.py_buffer(letters)])


if __name__ == "__main__":
    sys.exit(main())
