"""A writer's task streams: what it holds follows neither the rows that it is given, nor how wide they are. No JVM."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from support.arrow_memory import arrow_memory
from support.tables import make_table, new_job, schema_of

from tablestore_engine.spark.write import writer

MEBI = 1 << 20
ROW_GROUP = 16 * MEBI
ROWS_PER_BATCH = 1_000


def sorted_batches(rows, partitions, width):
    """As Spark sends them: sorted by partition and key, a thousand rows at a time."""
    text = "x" * width
    for start in range(0, rows, ROWS_PER_BATCH):
        ids = range(start, start + ROWS_PER_BATCH)
        yield pa.record_batch({
            "p": pa.array([i * partitions // rows for i in ids], pa.int32()),
            "id": pa.array(ids, pa.int32()),
            "v": pa.array([f"{text}{i}" for i in ids]),
            "__tablestore_bucket": pa.array([0] * ROWS_PER_BATCH, pa.int32()),
        })  # fmt: skip


@pytest.mark.cover
@pytest.mark.parametrize(("rows", "width"), [(1_000_000, 20), (25_000, 8_000)], ids=["narrow", "wide"])
@pytest.mark.parametrize("partitions", [1, 500])
def test_memory_of_a_task(tmp_path, partitions, rows, width):
    columns, options = {"p": "INT", "id": "INT", "v": "STRING"}, {"bucket": "1", "target-file-size": "16 mb"}
    table = make_table(tmp_path, columns, ["p", "id"], ["p"], options)
    with arrow_memory() as pool:
        (payload,) = writer._task(new_job(table))(sorted_batches(rows, partitions, width))
    result = pickle.loads(payload.column(0)[0].as_py())
    assert (result.rows_in, result.rows_out) == (rows, rows)
    assert len({e.partition for e in result.entries}) == partitions
    # A chunk and the one before it; a row group, and its copy in one piece; a batch of Spark's.
    bound = 2 * writer._CHUNK_BYTES + 2 * ROW_GROUP + 16 * MEBI
    assert pool.max_memory() < bound


def test_the_narrower_rows_are_the_more_are_written_here():
    narrow = schema_of({"k": "BIGINT", "v": "DECIMAL(38, 2)"})
    wide = schema_of({f"c{i}": "STRING" for i in range(30)})
    assert writer.small_rows(narrow) == 500_000
    assert 200_000 < writer.small_rows(schema_of({f"c{i}": "BIGINT" for i in range(16)})) < 500_000
    assert writer.small_rows(wide) == 200_000
