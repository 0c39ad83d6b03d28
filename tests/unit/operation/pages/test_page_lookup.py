"""Rows of Parquet files are found by values, and only the pages of these rows are read."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.pages import page_lookup
from tablestore_engine.operation.pages.page_index import PageIndex
from tablestore_engine.operation.pages.page_lookup import PagedParquet, look_up

ROWS, PAGE, GROUP = 1_000, 50, 400


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch):
    monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 0)


def table(seed=0):
    """Rows sorted by `id`, with values of most types, and nulls."""
    chance = random.Random(seed)

    def some(make):
        return [None if chance.random() < 0.1 else make() for _ in range(ROWS)]

    return pa.table(
        {
            "id": pa.array([i // 3 * 2 for i in range(ROWS)], pa.int64()),
            "line": pa.array([i % 3 for i in range(ROWS)], pa.int8()),
            "name": pa.array(sorted(some(lambda: f"n{chance.randrange(300):03}"), key=str)),
            "wide": pa.array(some(lambda: "x" * chance.randrange(2_000))),
            "day": pa.array(some(lambda: date(2024, 1, 1 + chance.randrange(31)))),
            "price": pa.array(some(lambda: Decimal(chance.randrange(10**6)) / 100), pa.decimal128(9, 2)),
            "big": pa.array(some(lambda: Decimal(chance.randrange(10**20))), pa.decimal128(30, 0)),
            "at": pa.array(some(lambda: chance.randrange(10**15)), pa.timestamp("us", "UTC")),
            "flag": pa.array(some(lambda: chance.random() < 0.5)),
            "nothing": pa.nulls(ROWS, pa.int32()),
            "s": pa.array(
                some(lambda: {"id": "x", "in": {"line": 1.5}}),
                pa.struct([("id", pa.string()), ("in", pa.struct([("line", pa.float64())]))]),
            ),
            "items": pa.array(some(lambda: list(range(chance.randrange(4)))), pa.list_(pa.int32())),
        }
    )


def written(path, rows, **more):
    given = {"write_page_index": True, "max_rows_per_page": PAGE, "data_page_size": 20_000, "row_group_size": GROUP}
    pq.write_table(rows, path, **{**given, **more})
    return str(path)


class Counted:
    """A file that counts the bytes that are read of it."""

    def __init__(self, path):
        self._file, self.bytes = pa.OSFile(path), 0

    def __getattr__(self, name):
        return getattr(self._file, name)

    def read_at(self, size, offset):
        self.bytes += size
        return self._file.read_at(size, offset)


def found(handle, path, keys, columns):
    parts = list(look_up(handle, path, dict(keys.distinct), keys.positions_in, columns))
    rows = [pa.Table.from_batches([batch]) for _, batch in parts]
    return np.concatenate([positions for positions, _ in parts]).tolist() if parts else [], rows


def expected(rows, keys):
    sought = set(zip(*(keys.values.column(name).to_pylist() for name in keys.names), strict=True))
    own = zip(*(rows.column(name).to_pylist() for name in keys.names), strict=True)
    return [i for i, one in enumerate(own) if one in sought]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"use_dictionary": False, "compression": "none"},
        {"data_page_version": "2.0", "compression": "gzip"},
        {"write_page_index": False},
        {"use_dictionary": ["name"], "column_encoding": {"id": "DELTA_BINARY_PACKED"}, "dictionary_pagesize_limit": 99},
    ],
)
@pytest.mark.parametrize("whole", [0, 1 << 20])
def test_the_rows_of_keys(tmp_path, monkeypatch, how, whole):
    monkeypatch.setattr(page_lookup, "WHOLE_BYTES", whole)
    rows = table()
    path = written(tmp_path / "a.parquet", rows, **how)
    chance = random.Random(1)
    for names in (["id"], ["id", "line"], ["name"], ["line", "day"], ["price"], ["at"], ["nothing"]):
        for count in (0, 1, 7, 200):
            picked = [chance.randrange(ROWS) for _ in range(count)]
            values = rows.select(names).take(pa.array(picked, pa.int64())).drop_null()
            keys = RowKeys(values)
            with pa.OSFile(path) as handle:
                at, parts = found(handle, path, keys, rows.column_names)
            wanted = expected(rows, keys)
            assert at == wanted, (names, count)
            if wanted:
                given = pa.concat_tables(parts).cast(rows.schema)
                assert given.equals(rows.take(pa.array(wanted))), (names, count)


def test_keys_that_no_row_has(tmp_path):
    path = written(tmp_path / "a.parquet", table())
    for name, values in (("id", pa.array([-1, 1, 10**6], pa.int64())), ("name", pa.array(["", "zz"]))):
        with pa.OSFile(path) as handle:
            assert found(handle, path, RowKeys(pa.table({name: values})), ["id", "wide"]) == ([], [])


def test_few_pages_are_read(tmp_path):
    path = written(tmp_path / "a.parquet", table(), compression="none", use_dictionary=False)
    size = (tmp_path / "a.parquet").stat().st_size
    keys = RowKeys(pa.table({"id": pa.array([20, 500], pa.int64())}))
    names = [name for name in table().column_names if name not in ("items", "s")]
    handle = Counted(path)
    at, _ = found(handle, path, keys, names)
    assert len(at) == 6
    cold = handle.bytes
    handle = Counted(path)
    found(handle, path, keys, names)
    assert handle.bytes < size / 5, "pages without the keys were read"
    assert handle.bytes < cold, "the page index was read again"


@pytest.mark.parametrize("name", ["id", "small", "name", "raw", "day", "price", "at", "millis"])
def test_pages_are_skipped_by_bounds_of_every_kind(tmp_path, name):
    rows = pa.table(
        {
            "id": pa.array(range(-500, 500), pa.int64()),
            "small": pa.array([i // 8 for i in range(-500, 500)], pa.int8()),
            "name": pa.array([f"n{i:04}" for i in range(ROWS)]),
            "raw": pa.array([bytes([i // 8, i % 256]) for i in range(ROWS)]),
            "day": pa.array(range(-500, 500), pa.int32()).cast(pa.date32()),
            "price": pa.array([Decimal(i) / 100 for i in range(-500, 500)], pa.decimal128(9, 2)),
            "at": pa.array(range(-500, 500), pa.timestamp("us")),
            "millis": pa.array(range(-500, 500), pa.timestamp("ms", "UTC")),
        }
    )
    path = written(tmp_path / "a.parquet", rows, row_group_size=ROWS, store_decimal_as_integer=True)
    values = rows.column(name).take([3, 700]).combine_chunks()
    with pa.OSFile(path) as handle:
        file = PagedParquet(handle, PageIndex(handle))
        assert len(file.candidates(0, {name: file.index.sought(name, values)})) == 2 * PAGE
        at, _ = found(handle, path, RowKeys(pa.table({name: values})), ["id"])
    assert {3, 700} <= set(at)


def test_keys_are_compared_with_the_bounds_of_all_row_groups_at_once(tmp_path, monkeypatch):
    made, make = [], PageIndex.sought

    def counted(self, column, values):
        made.append((column, make(self, column, values)))
        return made[-1][1]

    monkeypatch.setattr(PageIndex, "sought", counted)
    path = written(tmp_path / "a.parquet", table(), row_group_size=100)
    rows = table().select(["name", "line"]).take([900, 5, 700, 5, 301, 302]).drop_null()
    with pa.OSFile(path) as handle:
        assert pq.ParquetFile(path).num_row_groups > 5
        assert found(handle, path, RowKeys(rows), ["id"])[0] == expected(table(), RowKeys(rows))
    assert [name for name, _ in made] == ["name", "line"]
    assert isinstance(made[0][1].values, pa.Array), "texts are not taken out of Arrow"


def test_a_file_that_is_cut_off(tmp_path):
    path = written(tmp_path / "a.parquet", table())
    keys = RowKeys(pa.table({"id": pa.array([20], pa.int64())}))
    with open(path, "r+b") as file:
        file.truncate(1_000)
    with pa.OSFile(path) as handle, pytest.raises(pa.ArrowInvalid, match="no footer"):
        found(handle, path, keys, ["id"])


@pytest.mark.parametrize(("sought", "read"), [(6, [["id"], ["name", "s"]]), (7, [["id"]])])
def test_other_columns_of_a_small_file_are_read_for_its_rows_only(tmp_path, monkeypatch, sought, read):
    monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 1 << 20)
    path = written(tmp_path / "a.parquet", table())
    taken = []

    class Recorded(pq.ParquetFile):
        def read(self, columns=None, **kwargs):
            taken.append(columns)
            return super().read(columns=columns, **kwargs)

    monkeypatch.setattr(pq, "ParquetFile", Recorded)
    keys = RowKeys(pa.table({"id": pa.array([sought], pa.int64())}))
    with pa.OSFile(path) as handle:
        at, rows = found(handle, path, keys, ["name", "id", "s", "missing"])
    assert taken == read
    assert [one.column_names for one in rows] == [["name", "id", "s"]] * bool(at)


def test_a_small_file_of_many_rows_is_read_by_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 1 << 20)
    monkeypatch.setattr(page_lookup, "_WHOLE_ROWS", ROWS - 1)
    monkeypatch.delattr(page_lookup, "_of_whole")
    path = written(tmp_path / "a.parquet", table())
    with pa.OSFile(path) as handle:
        at, _ = found(handle, path, RowKeys(pa.table({"id": pa.array([6], pa.int64())})), ["name"])
    assert at == [9, 10, 11]
