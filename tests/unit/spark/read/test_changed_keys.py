"""Which keys newer runs hold: as constants, as one number, as a join."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pytest
from support.tables import schema_of

from tablestore_engine.operation.scan.stats_may_match import Bounds
from tablestore_engine.spark.read.changed_keys import BlockedKeys, JoinedKeys, constant_keys
from tablestore_engine.spark.read.join_key import KeyRanges, join_keys, key_blocks


def file(**ranges):
    def of(only):
        return lambda name: (None, Bounds(*ranges[name])) if name in ranges else None

    return SimpleNamespace(of=of)


def test_a_few_keys_become_constants():
    keys = constant_keys(pa.table({"a": [1, -2], "b{": ["it's", ""], "d": [date(2024, 1, 2), date(1, 1, 1)]}))
    assert keys is not None
    assert keys.without("x", "true") == (
        "SELECT x FROM {bottom} b WHERE NOT ("
        "(b.`a` = 1 AND b.`b{{` = cast(X'69742773' as string) AND b.`d` = DATE '2024-01-02') OR "
        "(b.`a` = -2 AND b.`b{{` = '' AND b.`d` = DATE '0001-01-01')) AND true"
    )
    assert keys.only("x") == keys.without("x", "y").replace("NOT ", "").removesuffix(" AND y")


@pytest.mark.parametrize("values", [[], list(range(51)), [1.5], [Decimal("1.5")], [datetime(2024, 1, 1)], [True]])
def test_these_keys_do_not_become_constants(values):
    assert constant_keys(pa.table({"a": values})) is None


def test_numbers_that_fit_are_packed():
    fields = schema_of({"a": "BIGINT", "b": "INT"}).fields
    ranges = KeyRanges.of(fields, [file(a=(1, 100), b=(-2, 3)), file(a=(-5, 7), b=(0, 4))])
    (key,) = join_keys(["a", "b"], ranges)
    assert key("t") == "((0L * 106L + (cast(t.`a` as bigint) - -5L)) * 7L + (cast(t.`b` as bigint) - -2L))"


@pytest.mark.parametrize(
    ("kinds", "files"),
    [
        ({"a": "BIGINT"}, [{"a": (1, 5)}]),
        ({"a": "INT", "b": "INT"}, [{"a": (1, 5), "b": (1, 5)}]),
        ({"a": "BIGINT", "b": "STRING"}, [{"a": (1, 5), "b": ("x", "y")}]),
        ({"a": "BIGINT", "b": "INT"}, [{"a": (1, 5), "b": (1, 5)}, {"a": (1, 5)}]),
        ({"a": "BIGINT", "b": "INT"}, [{"a": (None, None), "b": (1, 5)}]),
        ({"a": "BIGINT", "b": "INT"}, [{"a": (-(2**62), 5), "b": (1, 5)}]),
        ({"a": "BIGINT", "b": "BIGINT"}, [{"a": (0, 2**31), "b": (0, 2**31)}]),
    ],
)
def test_keys_that_are_joined_column_by_column(kinds, files):
    fields = schema_of(kinds).fields
    keys = join_keys(list(kinds), KeyRanges.of(fields, [file(**ranges) for ranges in files]))
    assert [key("x") for key in keys] == [f"x.`{name}`" for name in kinds]


def test_the_join():
    keys = JoinedKeys((lambda alias: f"{alias}.`k`",), broadcast=True)
    assert keys.without("c", "b.x = 1") == (
        "SELECT /*+ BROADCAST(c) */ c FROM {bottom} b LEFT ANTI JOIN"
        " (SELECT u.`k` AS __tablestore_key0 FROM {upper} u) c ON b.`k` = c.__tablestore_key0 WHERE b.x = 1"
    )
    assert "SEMI" in keys.only("c")
    assert "BROADCAST" not in JoinedKeys(keys.keys, broadcast=False).only("c")


def test_blocks_of_the_first_column():
    ranges = KeyRanges.of(schema_of({"a": "INT", "b": "BIGINT"}).fields, [file(a=(0, 9_999), b=(1, 7))])
    keys = pa.table({"a": pa.array([*range(0, 10_000, 100), 5_001], pa.int32()), "b": [1] * 100 + [7]})
    blocks = key_blocks(ranges, keys)
    joined = BlockedKeys(blocks, {}).only("c")
    assert joined == (
        "SELECT /*+ BROADCAST(c) */ c FROM {bottom} b LEFT SEMI JOIN {blocks} c"
        " ON shiftright(cast(b.`a` as bigint), 5) = c.block"
        " AND (((b.`a` ^ c.key0_0) = 0 AND (b.`b` ^ c.key0_1) = 0)"
        " OR ((b.`a` ^ c.key1_0) = 0 AND (b.`b` ^ c.key1_1) = 0))"
    )
    rows = {row.pop("block"): list(row.values()) for row in blocks.table.to_pylist()}
    assert len(rows) == 100
    assert rows[5_000 >> 5] == [5_000, 1, 5_001, 7]
    assert rows[100 >> 5] == [100, 1, None, None]


def test_blocks_of_all_columns_where_the_first_repeats():
    ranges = KeyRanges.of(schema_of({"a": "INT", "b": "BIGINT"}).fields, [file(a=(1, 2), b=(-500, 499))])
    keys = pa.table({"a": pa.array([1, 2] * 10, pa.int32()), "b": range(-500, 500, 50)})
    blocks = key_blocks(ranges, keys)
    packed = "((0L * 2L + (cast(t.`a` as bigint) - 1L)) * 1000L + (cast(t.`b` as bigint) - -500L))"
    assert blocks.block("t") == f"shiftright({packed}, 5)"
    assert [one("t") for one in blocks.columns] == [packed]
    assert ranges.pack(pa.table({"a": [1, 2, 2], "b": [-500, -500, 499]})).tolist() == [0, 1000, 1999]


def test_no_blocks_for_keys_that_lie_side_by_side():
    ranges = KeyRanges.of(schema_of({"a": "BIGINT"}).fields, [file(a=(0, 1_000))])
    assert key_blocks(ranges, pa.table({"a": range(1_000)})) is None
