"""Options that change what a data file looks like: thin mode, compression by level, size of row groups."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from support.files import path_of
from support.invariants import check_invariants
from support.tables import by_key, compact, make_table, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import OptionError
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import SetOption

THIN = {"data-file.thin-mode": "true", "num-sorted-run.compaction-trigger": "2"}


def parquet_files(table):
    return {e.file.level: pq.ParquetFile(path_of(table, e)) for e in table.live_files()}


@pytest.mark.parametrize("stats", ["truncate(16)", "none"])
def test_thin_files_have_no_copies_of_the_key(tmp_path, stats):
    columns = {"day": "DATE", "name": "STRING", "v": "INT"}
    table = make_table(tmp_path, columns, ["name"], options={**THIN, "metadata.stats-mode": stats})
    write(table, [{"name": f"n{n:03}", "v": n} for n in range(50)])
    write(table, [{"name": "n007", "v": 70}])
    for file in parquet_files(table).values():
        assert file.schema_arrow.names == ["_SEQUENCE_NUMBER", "_VALUE_KIND", "day", "name", "v"]
    check_invariants(table)
    for file in table.scan().files:
        types = [f.type for f in table.schema.trimmed_key_fields]
        bounds = decode_row(file.key_stats.min_values, types), decode_row(file.key_stats.max_values, types)
        assert bounds == (decode_row(file.min_key, types), decode_row(file.max_key, types)), "keys always have bounds"
    assert by_key(table, "name")["n007"]["v"] == 70
    compact(table)
    check_invariants(table)
    assert len(table.scan().files) == 1
    assert by_key(table, "name")["n007"]["v"] == 70
    assert bool(table.scan(predicate=Compare("name", "=", "z")).files) is (stats == "none")


def test_thin_and_other_files_merge(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"])
    write(table, [{"id": 1, "v": 1}, {"id": 2, "v": 1}])
    table = Catalog(tmp_path).alter_table("default", "t", [SetOption("data-file.thin-mode", "true")])
    write(table, [{"id": 2, "v": 2}, {"id": 3, "v": 2}])
    assert {key: row["v"] for key, row in by_key(table).items()} == {1: 1, 2: 2, 3: 2}
    compact(table)
    check_invariants(table)
    assert {key: row["v"] for key, row in by_key(table).items()} == {1: 1, 2: 2, 3: 2}


def codecs(file):
    group = file.metadata.row_group(0)
    return {group.column(n).path_in_schema: group.column(n).compression for n in range(group.num_columns)}


def test_compression_by_level(tmp_path):
    options = {"file.compression.per.level": "0:lz4, 3:gzip", "file.compression": "snappy", "num-levels": "4"}
    table = make_table(tmp_path, {"id": "INT", "v": "STRING"}, ["id"], options=options)
    write(table, [{"id": 1, "v": "a"}])
    write(table, [{"id": 1, "v": "b"}])
    found = {level: codecs(file)["v"] for level, file in parquet_files(table).items()}
    assert found == {0: "LZ4", 3: "GZIP"}
    table = Catalog(tmp_path).alter_table("default", "t", [SetOption("file.compression.per.level", "0:lz4")])
    compact(table)
    assert {level: codecs(file)["v"] for level, file in parquet_files(table).items()} == {3: "SNAPPY"}


def test_a_table_without_a_key_has_no_levels(tmp_path):
    table = make_table(tmp_path, {"v": "STRING"}, options={"file.compression.per.level": "0:lz4"})
    write(table, [{"v": "a"}])
    assert codecs(parquet_files(table)[0])["v"] == "ZSTD"


@pytest.mark.parametrize(("text", "message"), [("lz4", "levels and their values"), ("0:lz5", "one of zstd, snappy")])
def test_compressions_that_are_none(tmp_path, text, message):
    with pytest.raises(OptionError, match=message):
        make_table(tmp_path, {"v": "INT"}, options={"file.compression.per.level": text})


def test_row_groups_have_the_size_of_a_block(tmp_path):
    rows = [{"id": n, "v": "x" * 100} for n in range(5_000)]
    groups = {}
    for size in (None, "64 kb", "1 mb"):
        options = {"file.block-size": size} if size else {}
        table = make_table(tmp_path, {"id": "INT", "v": "STRING"}, ["id"], options=options, name=f"t{len(groups)}")
        write(table, rows)
        groups[size] = parquet_files(table).popitem()[1].metadata.num_row_groups
        assert len(by_key(table)) == 5_000
    assert (groups[None], groups["1 mb"]) == (1, 1)
    assert 8 <= groups["64 kb"] <= 14, "5,000 rows of about 130 bytes"
