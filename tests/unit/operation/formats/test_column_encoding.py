"""Columns are encoded so that reads of several runs, which decode all keys, are quick."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.files import data_files
from support.tables import compact, make_table, read, write

from tablestore_engine.operation.formats.column_encoding import dictionary_columns, encodings
from tablestore_engine.options import CoreOptions

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


def _plain(sample: pa.Table) -> set[str]:
    chosen = encodings(sample, [], "zstd", CoreOptions.parse({}))
    plain = {one for one, codec in chosen["compression"].items() if codec == "none"}
    assert plain.isdisjoint(chosen["compression_level"])
    return plain


def test_codes_that_do_not_compress_are_stored_as_they_are():
    """Random codes of about one frequency are packed bits; rare and repeated ones compress, or are runs."""
    rows = 20_000
    draw = Random(1)
    random = [draw.getrandbits(24) for _ in range(rows)]
    sample = pa.table(
        {
            "random": [one % 61 for one in random],
            "nulls": [one % 61 or None for one in random],
            "only_nulls": pa.nulls(rows, pa.int32()),
            "texts": [str(one % 61) for one in random],
            "many": [one % 2_500 for one in random],
            "one_value": [7] * rows,
            "mostly_zero": [one % 61 if one % 50 == 0 else 0 for one in random],
            "in_turn": [i % 61 for i in range(rows)],
        }
    )
    assert _plain(sample) == {"random", "nulls", "only_nulls", "texts", "many", "one_value"}
    assert _plain(sample.slice(0, 5_000)) == set(), "small files"


def test_columns_that_may_grow_without_compression_are_compressed():
    """Long texts, many texts, and columns whose later rows differ from the first."""
    rows = 100_000
    draw = Random(1)
    random = [draw.getrandbits(24) for _ in range(rows)]
    sample = pa.table(
        {
            "long": [f"{one % 61:040}" for one in random],
            "many": [f"text number {one % 2_500}" for one in random],
            "later": [one % 61 if i < rows // 2 else i for i, one in enumerate(random)],
            "short": [f"{one % 61}" for one in random],
        }
    )
    assert {"long", "many", "later"} <= set(dictionary_columns(sample))
    assert _plain(sample) == {"short"}
