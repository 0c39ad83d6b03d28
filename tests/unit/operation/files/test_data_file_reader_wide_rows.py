"""Memory is bounded in bytes: a batch of wide rows has fewer of them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from support.arrow_memory import arrow_memory
from support.files import live_paths
from support.tables import compact, make_table

from tablestore_engine.operation.compact import compact_bucket as compact_module
from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.formats.file_format import BATCH_BYTES, BATCH_ROWS, ROW_GROUP_BYTES

WIDE = "x" * 8000
MEBI = 1 << 20


def wide_rows(count, step=1, offset=0):
    """Ids from `offset` in steps, each with a text of its own of 8 kB."""
    ids = range(offset, offset + count * step, step)
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array([f"{WIDE}{i}" for i in ids])})


def wide_table(folder, **options):
    return make_table(folder, {"id": "INT", "v": "STRING"}, ["id"], options={"write-only": "true", **options})


def test_a_batch_is_read_by_its_bytes(tmp_path):
    table = wide_table(tmp_path)
    table.write(wide_rows(6_000))
    (path,) = live_paths(table)
    stored = StoredFile(path, table.io.size(path), table.schema)

    def batches(*names):
        return list(read_batches(table.io, stored, table.schema, FileColumns(names)))

    found = batches("id", "v")
    assert sum(b.num_rows for b in found) == 6_000
    assert max(b.nbytes for b in found) <= BATCH_BYTES
    assert max(b.nbytes for b in found) > BATCH_BYTES // 2
    assert [b.num_rows for b in batches("id")] == [6_000], "the width of other columns does not matter"


def test_repeated_values_are_as_wide_as_they_are_in_memory(tmp_path):
    """What a dictionary holds once in the file is known from the first row group on."""
    table = make_table(tmp_path, {"v": "STRING"})
    for _ in range(3):
        table.write(pa.table({"v": [WIDE] * 6_000}))
    assert compact(table) is not None
    (path,) = live_paths(table)
    groups = pq.ParquetFile(path).metadata.num_row_groups
    stored = StoredFile(path, table.io.size(path), table.schema)
    found = list(read_batches(table.io, stored, table.schema, FileColumns(("v",))))
    assert groups > 1
    assert max(b.nbytes for b in found[1:]) <= BATCH_BYTES
    assert all(b.num_rows <= BATCH_ROWS for b in found)


def test_rows_that_come_at_once_make_several_row_groups(tmp_path):
    table = wide_table(tmp_path)
    table.write(wide_rows(20_000))
    (path,) = live_paths(table)
    file = pq.ParquetFile(path).metadata
    groups = [file.row_group(i) for i in range(file.num_row_groups)]
    assert len(groups) > 1
    assert max(g.total_byte_size for g in groups) <= 1.3 * ROW_GROUP_BYTES


def test_a_compaction_of_wide_rows_holds_few_of_them(tmp_path):
    table = wide_table(tmp_path, **{"target-file-size": "4 mb"})
    for run in range(5):
        table.write(wide_rows(5_000, step=5, offset=run))
    with arrow_memory() as pool:
        assert compact(table) is not None
    given = 5 * 5_000 * len(WIDE)
    assert given > 190 * MEBI
    assert pool.max_memory() < 5 * compact_module._MERGED_BYTES
    assert table.to_arrow(["id"]).num_rows == 25_000
