"""Folding engines in buckets of more runs than are merged at once: right answers, and few files open at a time.

`property/test_merge_engines.py` draws how many runs are merged at once, too.
"""

from __future__ import annotations

from collections import Counter

import pytest
from support.files import data_files, kept_paths
from support.invariants import check_invariants
from support.tables import by_key, compact, make_table, write

from tablestore_engine.errors import CorruptDataError
from tablestore_engine.operation.compact import compact_bucket as compaction

MOST = 4
INSERT, BEFORE, DELETE = 0, 1, 3
LIST = {"type": "ARRAY", "element": "INT"}
COLLECT = {"merge-engine": "aggregation", "fields.v.aggregate-function": "collect"}


@pytest.fixture
def opened(monkeypatch):
    """How many files a compaction has open now, and at most."""
    monkeypatch.setattr(compaction, "MOST_SEQUENCES", MOST)
    read_batches, files = compaction.read_batches, Counter()

    def counted(*arguments):
        files["now"] += 1
        files["most"] = max(files["most"], files["now"])
        try:
            yield from read_batches(*arguments)
        finally:
            files["now"] -= 1

    monkeypatch.setattr(compaction, "read_batches", counted)
    return files


def settle(table, opened):
    """Compact a table with many runs: the answer stays, and the files between the passes are removed."""
    before = by_key(table)
    assert len(table.live_files()) > MOST**2
    compact(table)
    assert opened == {"now": 0, "most": MOST}
    assert len(table.live_files()) == 1
    assert by_key(table) == before
    assert data_files(table) == kept_paths(table)
    check_invariants(table)
    return before


def test_retractions_find_what_they_take_back(tmp_path, opened):
    table = make_table(tmp_path, {"id": "INT", "v": LIST}, ["id"], options=COLLECT)
    expected = {key: Counter() for key in range(3)}
    for n in range(20):
        write(table, [{"id": n % 3, "v": [n, n % 2]}, {"id": (n + 1) % 3, "v": [n]}])
        expected[n % 3].update([n, n % 2])
        expected[(n + 1) % 3].update([n])
        if n > 3:  # in another run, and mostly in another pass, than what is taken back
            write(table, [{"id": (n - 3) % 3, "v": [n - 3]}], [BEFORE])
            expected[(n - 3) % 3].subtract([n - 3])
    settled = settle(table, opened)
    assert {key: Counter(row["v"]) for key, row in settled.items()} == {k: +v for k, v in expected.items()}


def test_partial_sums_that_do_not_fit(tmp_path, opened):
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = make_table(tmp_path, {"id": "INT", "v": "BIGINT"}, ["id"], options=options)
    half = 2**62
    for n in range(3 * MOST**2):
        # The runs of some passes alone: too much for a BIGINT.
        write(table, [{"id": 1, "v": [half, half - 1, -half, -half + 1][n % 4]}, {"id": n, "v": n}])
    assert settle(table, opened)[7]["v"] == 7


def test_columns_that_come_in_groups(tmp_path, opened):
    options = {"merge-engine": "partial-update", "fields.s.sequence-group": "v"}
    table = make_table(tmp_path, {"id": "INT", "s": "INT", "v": "STRING", "w": "INT"}, ["id"], options=options)
    for n in range(3 * MOST**2):
        late = (n * 7) % 48
        write(table, [{"id": 1, "s": late, "v": f"of {late}"}, {"id": 1, "w": n}, {"id": 2 + n, "s": 1, "w": n}])
        if n % 5 == 0:
            write(table, [{"id": 2 + n, "s": 2}], [DELETE])
    row = settle(table, opened)[1]
    assert row == {"id": 1, "s": 47, "v": "of 47", "w": 47}


def test_rows_that_were_removed(tmp_path, opened):
    options = COLLECT | {"aggregation.remove-record-on-delete": "true", "target-file-size": "1 kb"}
    table = make_table(tmp_path, {"id": "INT", "v": LIST}, ["id"], options=options)
    for n in range(3 * MOST**2):
        write(table, [{"id": 1, "v": [n]}, {"id": 2 + n, "v": [n]}])
        if n in (20, 41):
            write(table, [{"id": 1, "v": None}, {"id": n, "v": None}], [DELETE, DELETE])
    before = by_key(table)
    compact(table)
    assert opened["most"] == MOST
    assert by_key(table) == before
    assert before[1]["v"] == [42, 43, 44, 45, 46, 47]
    assert not {20, 41} & before.keys()
    check_invariants(table)


def test_a_failure_between_passes_leaves_nothing(tmp_path, opened):
    table = make_table(tmp_path, {"id": "INT", "v": LIST}, ["id"], options=COLLECT)
    for n in range(3 * MOST):
        write(table, [{"id": 1, "v": [n]}])
    files = data_files(table)
    damaged = min(table.live_files(), key=lambda e: e.file.max_sequence_number)
    with open(f"{table.path}/bucket-0/{damaged.file.file_name}", "r+b") as file:
        file.truncate(100)
    with pytest.raises(CorruptDataError):
        compact(table)
    assert data_files(table) == files
    assert opened["now"] == 0
