"""Tables of first rows: readers do not merge files above level 0, so each key is in one of them only."""

from __future__ import annotations

import pytest
from support.files import levels
from support.invariants import check_invariants
from support.tables import by_key, compact_newest, make_table, rows, write

FIRST = {"bucket": "1", "merge-engine": "first-row"}


def stored_rows(table):
    return sum(entry.file.row_count for entry in table.live_files())


@pytest.mark.parametrize("file_format", ["parquet", "avro"])
@pytest.mark.parametrize("key", [["id"], ["id", "p"]])
def test_a_part_of_the_runs_leaves_out_keys_that_older_files_have(tmp_path, key, file_format):
    columns = {"id": "INT", "p": "STRING", "v": "INT"}
    table = make_table(tmp_path, columns, key, options={**FIRST, "file.format": file_format})
    write(table, rows(range(100), 1, p="a"))
    write(table, rows([5, 101], 2, p="a"))
    write(table, rows([5, 6, 101, 102], 3, p="a"))
    expected = dict.fromkeys(range(100), 1) | {101: 2, 102: 3}
    compact_newest(table, 2)
    assert levels(table) == [4, 5]
    assert stored_rows(table) == 102
    write(table, rows([7, 102, 103], 4, p="a"))
    compact_newest(table, 2)
    assert levels(table) == [4, 5]
    assert stored_rows(table) == 103, "no key is in two files"
    assert {key: row["v"] for key, row in by_key(table).items()} == expected | {103: 4}
    check_invariants(table)


def test_a_run_without_a_new_key_goes(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=FIRST)
    write(table, rows(range(10), 1))
    write(table, rows([1, 2], 2))
    write(table, rows([2, 3], 3))
    compact_newest(table, 2)
    assert levels(table) == [5]
    assert {row["v"] for row in by_key(table).values()} == {1}


def test_large_files_that_may_hold_a_known_key_are_rewritten(tmp_path):
    options = {**FIRST, "target-file-size": "1 b"}  # all are large
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    write(table, rows(range(0, 10, 2), 1))
    write(table, rows([4, 5], 2))
    write(table, rows([20], 2))
    write(table, rows([30], 2))
    compact_newest(table, 3)
    assert 4 in levels(table)
    assert stored_rows(table) == 8
    assert {key: row["v"] for key, row in by_key(table).items()} == {
        0: 1, 2: 1, 4: 1, 6: 1, 8: 1, 5: 2, 20: 2, 30: 2,
    }  # fmt: skip
