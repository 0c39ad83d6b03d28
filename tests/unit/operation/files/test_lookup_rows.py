"""Which rows have the values of keys: by numbers of combinations, and by a join where these are too many."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tablestore_engine.operation.files import lookup_rows
from tablestore_engine.operation.files.lookup_rows import RowKeys


@pytest.mark.parametrize("most", [1 << 62, 1])
@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["b", "a.c", "a"]])
def test_positions_of_keys(monkeypatch, most, names):
    monkeypatch.setattr(lookup_rows, "_MOST_NUMBERS", most)
    chance = random.Random(len(names))

    def some(count, nulls):
        def pick(values):
            return [None if nulls and chance.random() < 0.1 else chance.choice(values) for _ in range(count)]

        return pa.table(
            {"a": pa.array(pick(range(9)), pa.int32()), "b": pick("xyz"), "a.c": pa.array(pick(range(3)), pa.int8())}
        )

    rows, values = some(200, True), some(12, False)
    sought = set(zip(*(values.column(name).to_pylist() for name in names), strict=True))
    own = list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
    found = RowKeys(values.select(names)).positions_in(rows).tolist()
    assert found == [i for i, row in enumerate(own) if row in sought]
    assert found
    assert RowKeys(values.select(names).slice(0, 0)).positions_in(rows).tolist() == []
