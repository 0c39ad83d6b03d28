"""Old rows of keys, for tables with deletion vectors, are looked up once, and read with one look at each row group."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from support.tables import keyed_arrow, keyed_table, make_table, rows, values, write

from tablestore_engine.operation.compact import deletion_vectors
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.operation.compact.pick_tasks import pick_tasks
from tablestore_engine.operation.formats.file_format import BatchSizes
from tablestore_engine.operation.scan.plan_scan import stored_buckets

VECTORS = {"deletion-vectors.enabled": "true", "bucket": "1"}


@pytest.mark.parametrize("fold", [False, True])
def test_each_file_is_looked_up_once(catalog, monkeypatch, fold):
    looked_up, find = [], deletion_vectors.positions_of_keys

    def counted(io, file, *rest):
        looked_up.append(file.path)
        return find(io, file, *rest)

    sums = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = keyed_table(catalog, {**VECTORS, **(sums if fold else {})})
    table.write(keyed_arrow(1, *range(20_000)))
    for value in (3, 4):
        write(table, rows([20, 25, 19_999], value))
    monkeypatch.setattr(deletion_vectors, "positions_of_keys", counted)
    merge_unread(table.state)
    assert len(looked_up) == 1
    found = values(table)
    assert [found[one] for one in (19, 20, 19_999)] == ([1, 8, 8] if fold else [1, 4, 4])
    (entry,) = table.index_files()
    assert [one["_CARDINALITY"] for one in entry.deletion_vectors] == [3]


def test_old_rows_come_in_small_batches_and_each_row_group_is_read_once(catalog, monkeypatch):
    """Of a column that is nested no pages are known."""
    read, groups = pq.ParquetFile.read_row_group, []

    def counted(self, group, **how):
        groups.append(group)
        return read(self, group, **how)

    options = {**VECTORS, "merge-engine": "aggregation", "file.block-size": "1 mb"}
    columns = {"id": "INT", "a": {"type": "ARRAY", "element": "BIGINT"}}
    table = make_table(catalog, columns, ["id"], options=options)
    write(table, [{"id": one, "a": [one]} for one in range(100_000)])
    write(table, [{"id": one, "a": [0]} for one in range(0, 100_000, 100)])
    (task,) = pick_tasks(stored_buckets(table.state, table.latest_snapshot()), table.write_target(), table.schemas)
    (old,) = deletion_vectors.ReplacedRows(task).old_rows(task.files, BatchSizes(64, 1 << 20, 1 << 20))
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", counted)  # the keys are looked up already
    found = list(old)
    assert [one for batch in found for one in batch.column("a").to_pylist()] == [[n] for n in range(0, 100_000, 100)]
    assert max(batch.num_rows for batch in found) == 64
    assert len(set(groups)) == len(groups) > 1
