"""A writer and a compaction stream: what they hold does not grow with the bucket."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from support.tables import compact, identity, make_table, new_job

from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.formats import file_format
from tablestore_engine.operation.write.write_task import with_bucket, write_sorted

ROWS_PER_TABLE = 25_000
ROW_GROUP_ROWS = 100_000
SMALL, LARGE = 400_000, 1_600_000


def sorted_rows(job, rows, step):
    """Tables of a key that grows by `step`, a number that does not repeat, and a text."""
    random = np.random.default_rng(step)
    for start in range(0, rows, ROWS_PER_TABLE):
        ids = np.arange(start, start + ROWS_PER_TABLE, dtype=np.int64) * step
        numbers = random.integers(0, 2**62, ROWS_PER_TABLE)
        text = pa.array(numbers).cast(pa.string())
        yield with_bucket(job, pa.table({"id": ids, "n": numbers, "s": text}))


def peaks(folder, rows, runs):
    """Peak bytes that Arrow held while writing runs of one bucket, and while merging them."""
    # A writer holds one row group; with smaller ones the bound shows in smaller buckets.
    file_format.ROW_GROUP_ROWS = ROW_GROUP_ROWS
    pool = pa.default_memory_pool()
    columns = {"id": "BIGINT", "n": "BIGINT", "s": "STRING"}
    options = {"bucket": "1", "write-only": "true"}
    table = make_table(folder, columns, ["id"], options=options)
    for step in range(1, runs + 1):
        result = write_sorted(new_job(table), sorted_rows(new_job(table), rows // runs, step), f"{step}-")
        Committer(table.state).commit(Change("APPEND", tuple(result.entries)), identity())
    written = pool.max_memory()
    assert compact(table) is not None
    size = sum(e.file.file_size for e in table.live_files())
    return {"write": written, "compact": pool.max_memory(), "bucket": size}


def measured(folder, rows, runs=2):
    """`peaks` in a process of its own, because a pool's maximum is never reset."""
    code = (
        "import json; from test_write_task_memory import peaks;"
        f" print(json.dumps(peaks({str(folder)!r}, {rows}, {runs})))"
    )
    paths = [str(Path(__file__).parent), *sys.path]
    code = f"import sys; sys.path[:0] = {paths!r}; {code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_memory_does_not_follow_the_bucket(tmp_path):
    small, large = measured(tmp_path / "small", SMALL), measured(tmp_path / "large", LARGE)
    assert large["bucket"] > 3.5 * small["bucket"]
    assert large["write"] < 1.5 * small["write"]
    assert large["compact"] < 1.5 * small["compact"]


@pytest.mark.soak
def test_memory_grows_slower_than_the_number_of_runs(tmp_path):
    """Twice the rows in four times as many runs. The most that are open at once are bounded besides."""
    few = measured(tmp_path / "few", 16 * 2 * ROWS_PER_TABLE, runs=16)
    many = measured(tmp_path / "many", 64 * ROWS_PER_TABLE, runs=64)
    assert many["compact"] < 2.5 * few["compact"]
