"""Columns are encoded so that reads of several runs, which decode all keys, are quick."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.files import data_files
from support.tables import compact, make_table, read, write

from tablestore_engine.operation.formats.column_encoding import dictionary_columns

COLUMNS = {
    "id": "BIGINT",
    "line": "SMALLINT",
    "code": "STRING",
    "v": "INT",
    "a": {"type": "ARRAY", "element": {"type": "MAP", "key": "STRING", "value": "INT"}},
}
KEY = ["id", "line", "code"]


def columns_of(path):
    metadata = pq.ParquetFile(path).metadata
    group = metadata.row_group(0)
    return {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}


@pytest.mark.parametrize("codec", ["zstd", "snappy", "none"])
def test_integer_keys_are_differences_and_all_else_is_compressed(tmp_path, codec):
    table = make_table(tmp_path, COLUMNS, KEY, options={"file.compression": codec})
    rows = [{"id": i // 3, "line": i % 3, "code": "x", "v": i, "a": [[("k", i)]]} for i in range(3000)]
    write(table, rows)
    write(table, [{**rows[7], "v": -1}])
    compact(table)
    paths = data_files(table)
    assert len(paths) == 3
    for path in paths:
        columns = columns_of(path)
        for name in ("id", "line"):
            assert columns[name].compression == "UNCOMPRESSED"
            assert "DELTA_BINARY_PACKED" in columns[name].encodings
        others = {n: c.compression for n, c in columns.items() if n not in ("id", "line")}
        assert set(others.values()) == {"UNCOMPRESSED" if codec == "none" else codec.upper()}, others
        assert len(others) == 9, "three keys, two system columns, code, v and the two leaves of a"
    assert sorted(row["v"] for row in read(table)) == [-1, *(i for i in range(3000) if i != 7)]


def test_tables_without_a_key_have_no_differences(tmp_path):
    table = make_table(tmp_path, {"id": "BIGINT"})
    write(table, [{"id": i} for i in range(100)])
    (path,) = data_files(table)
    assert columns_of(path)["id"].compression == "ZSTD"


def test_dictionaries_are_built_where_they_help():
    rows = 20_000
    few, quarter, unique = [i % 50 for i in range(rows)], [i // 4 for i in range(rows)], list(range(rows))
    sample = pa.table(
        {
            "few": few,
            "some_numbers": quarter,
            "some_texts": [str(i) for i in quarter],
            "unique_texts": [str(i) for i in unique],
            "few_dates": pa.array(few, pa.int32()).cast(pa.date32()),
            "_KEY_few": few,
            "list": [[i] for i in few],
        }
    )
    assert dictionary_columns(sample) == ["few", "some_texts", "few_dates", "list.list.element"]
