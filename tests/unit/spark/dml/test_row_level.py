"""Rows of a keyed table that are in memory are removed without a query."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.tables import keyed_table, read, write

from tablestore_engine.errors import ConflictError
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.spark.dml.row_level import Read, write_held_rows
from tablestore_engine.spark.read.lookup_rows import rows_of_keys


def removed(table, snapshot, ids):
    keys = RowKeys(pa.table({"id": pa.array(ids, pa.int32())}))
    plan = table.scan(snapshot)
    rows = rows_of_keys(table, plan, keys)
    rows = rows.append_column(ROW_KIND_COLUMN, pa.repeat(pa.scalar(DELETE_KIND, pa.int8()), rows.num_rows))
    return write_held_rows(None, Read(table, snapshot, plan, 0), rows)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sequence.field": "v"},
        {"bucket": "-1"},
        {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
        {"merge-engine": "aggregation", "aggregation.remove-record-on-delete": "true", "fields.v.aggregate-function": "max"},  # noqa: E501
        {"changelog-producer": "input"},
        {"changelog-producer": "lookup"},
        {"changelog-producer": "full-compaction"},
    ],
)  # fmt: skip
def test_rows_in_memory_are_removed(tmp_path, options):
    table = keyed_table(tmp_path, {"bucket": "2", **options})
    write(table, [{"id": i, "v": i} for i in range(10)])
    write(table, [{"id": 3, "v": 30}])
    outcome = removed(table, table.latest_snapshot(), [3, 4, 99])
    assert outcome.rows == 2
    assert sorted(row["id"] for row in read(table)) == [0, 1, 2, 5, 6, 7, 8, 9]
    assert removed(table, table.latest_snapshot(), [3]).snapshot is None, "there is nothing to remove"


def test_a_change_since_the_rows_were_read_is_a_conflict(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    write(table, [{"id": 1, "v": 1}])
    before = table.latest_snapshot()
    write(table, [{"id": 1, "v": 2}])
    with pytest.raises(ConflictError):
        removed(table, before, [1])
    assert read(table) == [{"id": 1, "v": 2}]
