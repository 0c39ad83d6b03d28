"""Which values of a source are keys of a table, and what they say of the files that may hold them."""

from __future__ import annotations

import time
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from support.tables import partitioned_table, row, schema_of, write

from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.schema.table.predicate import Compare, In
from tablestore_engine.spark.read import lookup_rows
from tablestore_engine.spark.read.lookup_rows import (
    keys_among,
    keys_of_rows,
    lookup_columns,
    predicates_of,
    rows_of_keys,
)

KINDS = {
    "id": "INT", "tiny": "TINYINT", "name": "STRING", "code": "CHAR(3)", "price": "DECIMAL(6, 2)", "day": "DATE",
    "at": "TIMESTAMP(3)", "v": "INT",
}  # fmt: skip
SCHEMA = schema_of(KINDS, ["id", "tiny", "name", "code", "price", "day", "at"])


def keys(**columns):
    rows = pa.table({f"s_{name}": values for name, values in columns.items()})
    found = keys_among(rows, [(name, f"s_{name}") for name in columns], SCHEMA)
    return None if found is None else found.values.to_pylist()


def test_columns_of_the_key_are_looked_up():
    pairs = [("v", "a"), ("id", "b"), ("code", "c"), ("id", "d"), ("name", "e")]
    assert lookup_columns(pairs, SCHEMA) == [("id", "d"), ("name", "e")]


def test_nulls_equal_nothing():
    assert keys(id=pa.array([1, None, 2], pa.int32()), name=["a", "b", None]) == [{"id": 1, "name": "a"}]


@pytest.mark.parametrize("partition", [["a", None, "b"], ["a", "a", "b"]])
def test_rows_of_the_table_are_found_without_a_partition_too(partition):
    schema = schema_of({"id": "INT", "p": "STRING"}, ["id"], ["p"])
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int32()), "p": partition})
    found = keys_of_rows(rows, schema)
    expected = rows.select(["id"]) if None in partition else rows
    assert found is not None
    assert found.values.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("id", pa.array([1, 2**40, -(2**31)], pa.int64()), [1, -(2**31)]),
        ("tiny", pa.array([1, 300, -128], pa.int32()), [1, -128]),
        ("price", pa.array([Decimal("1.50"), Decimal("1.505")], pa.decimal128(9, 3)), [Decimal("1.50")]),
        ("at", pa.array([1_000_000, 1_000_001], pa.timestamp("us")), [datetime(1970, 1, 1, 0, 0, 1)]),
        ("day", pa.array([date(2024, 1, 1)]), [date(2024, 1, 1)]),
    ],
)
def test_values_that_the_column_cannot_hold_equal_nothing(name, given, expected):
    found = keys(**{name: given})
    assert [one[name] for one in found] == expected


def test_keys_give_predicates_on_files():
    values = pa.table({"id": pa.array([5, 1, 5], pa.int32()), "name": ["b", "a", "c"]})
    assert predicates_of(RowKeys(values)) == [
        Compare("id", ">=", 1), Compare("id", "<=", 5), In("id", (1, 5)),
        Compare("name", ">=", "a"), Compare("name", "<=", "c"), In("name", ("a", "b", "c")),
    ]  # fmt: skip
    assert predicates_of(RowKeys(values.slice(0, 0))) == [In("id", ())]


@pytest.fixture
def partitions(tmp_path, monkeypatch):
    """A table of three partitions of two buckets, which several threads read."""
    monkeypatch.setattr(lookup_rows, "_SPLIT_BYTES", 0)
    monkeypatch.setattr(pa, "cpu_count", lambda: 4)
    table = partitioned_table(tmp_path, {"bucket": "2"})
    write(table, [row(number, number, p) for p in "abc" for number in range(20)])
    write(table, [row(3, 30, "b")])
    return table


def looked_up(table, ids):
    sought = RowKeys(pa.table({"id": pa.array(ids, pa.int32())}))
    found = rows_of_keys(table, table.scan(), sought)
    return None if found is None else sorted(tuple(one.values()) for one in found.to_pylist())


def test_threads_look_up_the_rows_of_all_partitions(partitions):
    expected = [("a", 3, 3), ("a", 7, 7), ("b", 3, 30), ("b", 7, 7), ("c", 3, 3), ("c", 7, 7)]
    assert looked_up(partitions, [7, 3, 3, 99, 7]) == expected, "a key that repeats finds its rows once"
    assert looked_up(partitions, [99]) == []


@pytest.mark.parametrize("limit", ["MOST_ROWS", "MOST_BYTES"])
def test_the_limits_are_those_of_all_threads_together(partitions, monkeypatch, limit):
    found = looked_up(partitions, [3, 7])
    monkeypatch.setattr(lookup_rows, limit, 5 if limit == "MOST_ROWS" else 50)
    assert len(found) == 6
    assert looked_up(partitions, [3, 7]) is None


def test_no_thread_goes_on_after_an_error(partitions, monkeypatch):
    first, *_ = partitions.scan().buckets
    to_the_end = []

    def read(state, part, names, keys):
        if first in part.buckets:
            raise OSError("The disk is full.")
        for _ in range(3_000):
            time.sleep(0.001)
            yield pa.record_batch({"p": ["a"], "id": pa.array([1], pa.int32()), "v": pa.array([1], pa.int32())})
        to_the_end.append(part)

    monkeypatch.setattr(lookup_rows, "read_rows", read)
    with pytest.raises(OSError, match="The disk is full"):
        looked_up(partitions, [3])
    assert to_the_end == []
