"""Files keep no bounds of columns with NaN, which readers would skip it by."""

from __future__ import annotations

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.invariants import check_invariants
from support.tables import make_table

NAN = float("nan")


def bounds(table, column):
    """Of each file, in the order of the rows, whether it bounds a column."""
    found = {}
    for entry in table.live_files():
        path = os.path.join(table.paths.bucket_dir("", entry.bucket), entry.file.file_name)
        group = pq.ParquetFile(path).metadata.row_group(0)
        chunks = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
        values = chunks[column].statistics
        found[entry.file.file_name] = values is not None and values.has_min_max
    return [found[name] for name in sorted(found, key=lambda name: int(name.rsplit("-", 1)[1].split(".")[0]))]


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_a_file_with_nan(tmp_path, monkeypatch, keyed, kind):
    monkeypatch.setattr("tablestore_engine.operation.files.rolling_writer._SLICE_BYTES", 200)
    keys, options = (("id",), {"bucket": "1"}) if keyed else ((), {})
    table = make_table(tmp_path, {"id": "INT", "x": kind, "y": kind}, keys, options=options)
    values = [1.0] * 40 + [NAN] + [2.0] * 40
    rows = {
        "id": pa.array(range(81), pa.int32()),
        "x": pa.array(values, pa.float64()),
        "y": pa.array([None, *([3.0] * 80)], pa.float64()),
    }
    table.write(pa.table(rows))
    assert bounds(table, "x") == [True, False]
    assert bounds(table, "y") == bounds(table, "id") == [True, True]
    check_invariants(table)
    assert table.to_arrow(["y"]).column("y").null_count == 1
