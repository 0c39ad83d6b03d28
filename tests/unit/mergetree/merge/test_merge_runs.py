"""The streaming merge against the obvious one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.mergetree.merge.fold_records import reducer
from tablestore_engine.mergetree.merge.merge_runs import (
    SortColumn,
    last_of_key_mask,
    merge_sorted,
    sort_stable,
)
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string()), ("seq", pa.int64()), ("v", pa.int64())])


def batches_of(rows, sizes):
    """Rows cut into batches of these sizes, repeated; 0 makes an empty batch."""
    table = pa.Table.from_pylist(rows, SCHEMA)
    start, turn = 0, 0
    while start < table.num_rows:
        size = sizes[turn % len(sizes)] if turn < 50 else 1
        turn += 1
        yield from table.slice(start, size).to_batches() or [pa.RecordBatch.from_pylist([], SCHEMA)]
        start += size


@st.composite
def run(draw, number):
    keys = draw(st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["", "a", "b", "ü"])), unique=True, max_size=20))
    return [
        {"k": k, "s": s, "seq": draw(st.integers(0, 3)), "v": number * 1000 + i}
        for i, (k, s) in enumerate(sorted(keys))
    ]


@given(
    st.integers(0, 4).flatmap(lambda n: st.tuples(*(run(i) for i in range(n)))),
    st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any),
)
def test_windows_merge_to_what_one_big_sort_gives(runs, sizes):
    naive = {}
    for rows in runs:
        for row in rows:
            before = naive.get((row["k"], row["s"]))
            if before is None or row["seq"] >= before["seq"]:
                naive[row["k"], row["s"]] = row
    reduce = reducer(["k", "s"], [SortColumn("seq")], MergeEngine())
    merged = [
        row for t in merge_sorted([batches_of(r, sizes) for r in runs], ["k", "s"], reduce) for row in t.to_pylist()
    ]
    assert merged == [naive[key] for key in sorted(naive)]


def test_a_window_of_one_run_passes_untouched():
    def never(table):
        raise AssertionError("reduced")

    apart = [[{"k": 1, "s": "", "seq": 0, "v": 1}], [{"k": 2, "s": "", "seq": 0, "v": 2}]]
    merged = list(merge_sorted([batches_of(r, [1]) for r in apart], ["k"], never))
    assert [t.column("v").to_pylist() for t in merged] == [[1], [2]]


def test_streams_one_batch_per_run():
    asked = []

    def stream(name, count):
        for i in range(count):
            asked.append((name, i))
            yield pa.RecordBatch.from_pylist([{"k": i, "s": "", "seq": 0, "v": 0}], SCHEMA)

    merged = merge_sorted([stream("a", 100), stream("b", 100)], ["k"], reducer(["k"], [], MergeEngine()))
    next(merged)
    assert len(asked) <= 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([1], [True]),
        ([1, 1, 2], [False, True, True]),
        ([None, None, 1], [False, True, True]),
        ([None, 0], [True, True]),
    ],
)
def test_last_of_key(values, expected):
    table = pa.table({"k": pa.array(values, pa.int64())})
    assert last_of_key_mask(table, ["k"]).tolist() == expected


def test_last_of_key_across_chunks_and_columns():
    table = pa.table({"a": pa.chunked_array([[1, 1], [1, 2]]), "b": pa.chunked_array([["x"], ["x", "y"], ["y"]])})
    assert last_of_key_mask(table, ["a", "b"]).tolist() == [False, True, True, True]


@given(
    st.lists(
        st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "a", "é", "\U0001f600"])),
        max_size=30,
    ),
    st.booleans(),
)
def test_sort_is_stable_with_nulls_first(rows, descending):
    table = pa.table(
        {
            "a": pa.array([r[0] for r in rows], pa.int64()),
            "b": pa.array([r[1] for r in rows], pa.string()),
            "n": pa.array(range(len(rows)), pa.int64()),
        }
    )

    expected = sorted(range(len(rows)), key=lambda i: (rows[i][1] is not None, rows[i][1] or ""))
    expected.sort(key=lambda i: (rows[i][0] is not None, -(rows[i][0] or 0) if descending else rows[i][0] or 0))
    got = sort_stable(table, [SortColumn("a", descending), SortColumn("b")]).column("n").to_pylist()
    assert got == expected


def test_descending_sequence_keeps_the_smallest():
    table = pa.table({"k": [1, 1, 1], "seq": [5, 3, 9], "v": ["five", "three", "nine"]})
    kept = reducer(["k"], [SortColumn("seq", descending=True)], MergeEngine())(table)
    assert kept.column("v").to_pylist() == ["three"]
