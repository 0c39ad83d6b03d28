"""Files roll, and their metadata says what is in them."""

from __future__ import annotations

import os
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from support.files import data_files
from support.invariants import check_invariants
from support.tables import arrow_rows, by_key, compact, make_table, new_job, read, write

from tablestore_engine.errors import StorageError
from tablestore_engine.operation.files.rolling_writer import BucketFiles, RollingWriter
from tablestore_engine.operation.write.write_task import write_table

NESTED = {
    "type": "ROW",
    "fields": [{"id": 0, "name": "x", "type": "INT"}, {"id": 1, "name": "y", "type": "STRING"}],
}


def writer_of(table):
    return RollingWriter(table.write_target(), BucketFiles("", 0, level=0, file_source=0), "t-")


def test_rolls_when_a_file_has_reached_the_target(tmp_path):
    table = make_table(tmp_path, {"v": "STRING"}, options={"target-file-size": "20 kb"})
    writer = writer_of(table)
    for start in range(40):
        writer.write(arrow_rows(table.schema, [{"v": f"{start * 1000 + i:x}" * 3} for i in range(1000)]))
    files = writer.close()
    assert len(files) > 3
    assert sum(f.row_count for f in files) == 40_000
    assert all(20_480 <= f.file_size < 60_000 for f in files[:-1])
    assert [f.file_name.rsplit("-", 1)[1] for f in files] == [f"{i}.parquet" for i in range(len(files))]


def test_names_of_files_begin_as_the_option_says(tmp_path):
    options = {"data-file.prefix": "orders-", "num-sorted-run.compaction-trigger": "2"}
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    for v in range(2):
        write(table, [{"id": 1, "v": v}])
    compact(table)
    names = [os.path.basename(path) for path in data_files(table)]
    assert len(names) == 3, "two of writes, one of a compaction"
    assert all(name.startswith("orders-") for name in names)
    assert by_key(table) == {1: {"id": 1, "v": 1}}


def test_empty_tables_open_no_file(tmp_path):
    table = make_table(tmp_path, {"v": "STRING"})
    writer = writer_of(table)
    writer.write(arrow_rows(table.schema, []))
    assert writer.close() == []
    assert not data_files(table)


def test_abort_removes_what_was_written(tmp_path):
    table = make_table(tmp_path, {"v": "STRING"})
    writer = writer_of(table)
    writer.write(arrow_rows(table.schema, [{"v": "a"}]))
    writer.roll()
    writer.write(arrow_rows(table.schema, [{"v": "b"}]))
    assert len(data_files(table)) == 2
    writer.abort()
    assert not data_files(table)


def test_a_full_disk_is_a_storage_error_that_names_the_file(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"v": "STRING"})
    job = new_job(table)
    import pyarrow.parquet as pq

    def full(self, *args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(StorageError, match=r"bucket-0/data-.*No space left"):
        write_table(job, arrow_rows(table.schema, [{"v": "a"}]))
    assert not data_files(table)


TYPES = {
    "id": ("BIGINT", 1, 2),
    "t": ("TINYINT", -128, 127),
    "s": ("SMALLINT", -5, 5),
    "i": ("INT", -(2**31), 2**31 - 1),
    "b": ("BOOLEAN", False, True),
    "f": ("FLOAT", 0.5, -1.5),
    "d": ("DOUBLE", float("inf"), 1e300),
    "d1": ("DECIMAL(9, 2)", Decimal("1.25"), Decimal("-1.25")),
    "d2": ("DECIMAL(18, 4)", Decimal("99999999999999.9999"), Decimal("0.0000")),
    "d3": ("DECIMAL(38, 10)", Decimal("1234567890123456789012345678.0123456789"), Decimal("-1.0000000000")),
    "day": ("DATE", date(1, 1, 1), date(9999, 12, 31)),
    "at": ("TIMESTAMP(6)", datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)),
    "tz": (
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
        datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=1),
    ),
    "text": ("STRING", "", "long text, longer than the bounds of statistics"),
    "char": ("CHAR(5)", "a", "bcd"),
    "var": ("VARCHAR(100)", "ü" * 50, "\U0001f600"),
    "bytes": ("BYTES", b"", bytes(range(256))),
}


@pytest.mark.parametrize("keys", [(), ("id",)], ids=["append", "keyed"])
def test_every_type_comes_back(tmp_path, keys):
    table = make_table(tmp_path, {n: kind for n, (kind, _, _) in TYPES.items()}, keys)
    rows = [
        {n: first for n, (_, first, _) in TYPES.items()},
        {n: second for n, (_, _, second) in TYPES.items()},
        {n: 3 if n == "id" else None for n in TYPES},
    ]
    write(table, rows)
    check_invariants(table)
    assert by_key(table) == {row["id"]: row for row in rows}


@pytest.mark.parametrize("key", [n for n in TYPES if n not in ("id", "f", "d")])
def test_every_type_as_key(tmp_path, key):
    kind, first, second = TYPES[key]
    table = make_table(tmp_path, {"v": "INT", key: kind}, [key], options={"bucket": "3"})
    write(table, [{key: first, "v": 1}, {key: second, "v": 2}])
    write(table, [{key: second, "v": 3}])
    check_invariants(table)
    assert by_key(table, key) == {first: {key: first, "v": 1}, second: {key: second, "v": 3}}
    compact(table)
    check_invariants(table)
    assert by_key(table, key)[second]["v"] == 3


def test_nested_columns(tmp_path):
    columns = {"id": "INT", "a": {"type": "ARRAY", "element": "INT"}, "m": {"type": "MAP", "key": "STRING", "value": "INT"}, "r": NESTED}  # fmt: skip  # noqa: E501
    table = make_table(tmp_path, columns, ["id"])
    write(table, [{"id": 1, "a": [1, None], "m": [("k", 1)], "r": {"x": 1, "y": None}}, {"id": 2}])
    write(table, [{"id": 2, "a": [], "m": [], "r": None}])
    rows = [
        {"id": 1, "a": [1, None], "m": [("k", 1)], "r": {"x": 1, "y": None}},
        {"id": 2, "a": [], "m": [], "r": None},
    ]
    assert sorted(read(table), key=lambda r: r["id"]) == rows
    compact(table)
    assert sorted(read(table), key=lambda r: r["id"]) == rows
