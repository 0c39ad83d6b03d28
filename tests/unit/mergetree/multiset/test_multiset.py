"""Multisets: how many rows a file adds or removes, what is merged when, and removing rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support.files import meta
from support.tables import schema_of

from tablestore_engine.errors import NegativeCountError
from tablestore_engine.mergetree.multiset.multiset import multiset_row_count, pick_multiset, pick_whole_multiset
from tablestore_engine.mergetree.multiset.retractions import (
    Part,
    Retractions,
    content_hashes,
    settled,
    taken_from,
)
from tablestore_engine.schema.types.system_columns import COUNT

FIELDS = schema_of({"id": "INT", "v": "STRING"}).fields


def plain(name, rows, size=10):
    return meta(name, rows=rows, size=size, sequence=(0, rows - 1))


def retraction(name, rows, times=1, size=10):
    return meta(name, rows=rows, size=size, sequence=(0, rows * times - 1), deletes=rows)


def pick(*files, percent=200, enough=3, threshold=None):
    unit = pick_multiset(
        files,
        target_file_size=100,
        min_file_num=enough,
        max_size_amplification_percent=percent,
        total_size_threshold=threshold,
    )
    return unit and ([f.file_name for run in unit.runs for f in run.files], unit.output.drop_deletes)


def test_row_counts_of_files():
    assert multiset_row_count(plain("p", 7)) == 7
    assert multiset_row_count(replace(plain("p", 7), delete_row_count=None)) == 7
    assert multiset_row_count(retraction("r", 2, times=3)) == -6


@pytest.mark.parametrize(
    ("files", "picked"),
    [
        ([plain("a", 100), retraction("r", 1)], None),
        # Small files merge once there are enough, whichever way they count; nothing may be dropped for it.
        ([plain("a", 100), plain("b", 5), retraction("r", 1)], (["a", "b", "r"], False)),
        ([plain("a", 100, size=90), plain("b", 5), retraction("r", 1)], None),
        (
            [plain("a", 100, size=70), plain("b", 5), retraction("r", 1), plain("c", 5)],
            (["b", "c", "r"], False),
        ),
        # 100 rows added and 51 taken: 151 records for 49 rows, of which 102 are too many.
        ([plain("a", 100, size=90), retraction("r", 51)], (["a", "r"], False)),
        ([plain("a", 100, size=90), retraction("r", 50)], None),
        ([plain("a", 5), retraction("r", 5)], (["a", "r"], False)),
    ],
)
def test_files_are_picked(files, picked):
    assert pick(*files) == picked


def test_a_small_bucket_is_kept_in_one_file():
    files = [plain("a", 100, size=90), retraction("r", 1, size=9)]
    assert pick(*files, threshold=99) is None
    # What is taken away too often stays, for rows that come late.
    assert pick(*files, threshold=100) == (["a", "r"], False)
    assert pick(plain("a", 5), threshold=100, enough=2) is None


def test_everything_on_request():
    unit = pick_whole_multiset([plain("a", 100, size=90), retraction("r", 1)])
    assert [f.file_name for run in unit.runs for f in run.files] == ["a", "r"]
    assert unit.output.drop_deletes


def rows(*values):
    return pa.table({"id": pa.array([v[0] for v in values], pa.int32()), "v": [v[1] for v in values]})


def test_changes_of_one_write_settle():
    given = rows((1, "a"), (2, "b"), (1, "a"), (3, None), (1, "a"), (2, "b"), (4, "d"))
    added, taken = settled(given, np.array([False, True, True, True, False, False, False]))
    assert added.to_pylist() == [{"id": 1, "v": "a"}, {"id": 4, "v": "d"}]
    assert taken.to_pylist() == [{"id": 3, "v": None, COUNT.name: -1}]
    assert settled(given, np.zeros(7, bool))[1] is None


def test_rows_are_taken_away_as_often_as_said():
    counts = pa.array([-1, -2, -1], pa.int64())
    retractions = Retractions(rows((1, "a"), (2, None), (1, "a")).append_column(COUNT.name, counts), FIELDS)
    assert not retractions.any_match(rows((1, None), (2, "a")))
    assert retractions.any_match(rows((1, None), (2, None)))
    assert retractions.cancel(rows((2, None), (1, "b"), (1, "a"), (2, None), (2, None))).to_pylist() == [
        {"id": 1, "v": "b"},
        {"id": 2, "v": None},
    ]
    assert not retractions.any_match(rows((2, None)))
    assert retractions.rest().to_pylist() == [{"id": 1, "v": "a", COUNT.name: -1}]
    with pytest.raises(NegativeCountError, match=r"more often.*in table db.t \(total -1\): \{'id': 1, 'v': 'a'\}"):
        retractions.check_done("db.t")
    retractions.cancel(rows((1, "a"), (1, "a")))
    assert retractions.rest() is None
    retractions.check_done("db.t")


def test_rows_that_share_a_hash_are_distinguished(monkeypatch):
    monkeypatch.setattr(
        "tablestore_engine.mergetree.multiset.retractions.content_hashes",
        lambda rows, _: np.zeros(rows.num_rows, np.int32),
    )
    retractions = Retractions(rows((1, "a"), (5, "e")).append_column(COUNT.name, pa.array([-1, -1])), FIELDS)
    left = retractions.cancel(rows((2, "a"), (1, "a"), (1, "b"), (1, "a")))
    assert left.to_pylist() == [{"id": 2, "v": "a"}, {"id": 1, "v": "b"}, {"id": 1, "v": "a"}]


def test_parts_hold_every_row_once_and_equal_rows_together():
    many = rows(*((n % 50, "x" * (n % 7)) for n in range(400)))
    parts = [Part(n, 3).of(many, FIELDS) for n in range(3)]
    held = sorted(number for part in parts for number in part.column("id").to_pylist())
    assert held == sorted(many.column("id").to_pylist())
    found = [{(r["id"], r["v"]) for r in p.to_pylist()} for p in parts]
    assert all(found)
    assert sum(map(len, found)) == len(set.union(*found))


def test_the_hash_is_of_the_content():
    floats = schema_of({"x": "DOUBLE", "y": "FLOAT", "z": {"type": "ARRAY", "element": "INT"}}).fields
    table = pa.table(
        {
            "x": pa.array([0.0, -0.0, float("nan"), -float("nan")]),
            "y": pa.array([-0.0, 0.0, float("nan"), float("nan")], pa.float32()),
            "z": pa.array([[1], [2], [], None], pa.list_(pa.int32())),
        }
    )
    zero, minus, nan, other = content_hashes(table, floats)
    assert zero == minus
    assert nan == other
    assert content_hashes(table.select(["z"]), floats[2:]).tolist() == [0, 0, 0, 0]


def test_as_many_rows_go_as_are_retracted():
    counts = pa.array([-1, -2, -1], pa.int64())
    retracted = rows((1, "a"), (2, None), (1, "a")).append_column(COUNT.name, counts)
    taken = taken_from(rows((2, None), (1, "a"), (1, "b"), (2, None), (1, "a"), (1, "a"), (2, None)), retracted)
    assert taken.rows.tolist() == [True, True, False, True, True, False, False]
    assert taken.missing is None
    taken = taken_from(rows((1, "a"), (3, "c"), (2, None)), retracted)
    assert taken.rows.tolist() == [True, False, True]
    assert taken.missing.to_pylist() == [{"id": 1, "v": "a", COUNT.name: -1}, {"id": 2, "v": None, COUNT.name: -1}]
    taken = taken_from(rows(), retracted)
    assert taken.rows.tolist() == []
    assert [row[COUNT.name] for row in taken.missing.to_pylist()] == [-2, -2]


def test_rows_go_that_are_equal_in_parts_and_in_sign():
    def table(x, y):
        return pa.table({"x": pa.array(x, pa.float64()), "y": pa.array(y, pa.list_(pa.float32()))})

    nan = float("nan")
    there = table([0.0, nan, None, 1.0], [[nan, -0.0], None, [], [None]])
    retracted = table([-0.0, -nan, None], [[-nan, 0.0], None, []]).append_column(COUNT.name, pa.array([-1, -1, -1]))
    taken = taken_from(there, retracted)
    assert taken.rows.tolist() == [True, True, True, False]
    assert taken.missing is None
