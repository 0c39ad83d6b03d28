"""Rolling back a table with deletion vectors: rows that waited for a compaction wait again."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.tables import DELETE, compact, keyed_arrow, keyed_table, make_table, rows, values, write

from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS
from tablestore_engine.operation.compact.auto_compaction import merge_unread

WAITING = {"deletion-vectors.enabled": "true", "bucket": "1", "write-only": "true"}


@pytest.mark.parametrize("bad", ["a write", "a write that is merged", "an overwrite"])
def test_rows_that_waited_wait_again(catalog, bad):
    table = keyed_table(catalog, WAITING)
    write(table, rows(range(3)))
    write(table, rows([1, 7], 1))
    write(table, rows([2]), [DELETE])
    if bad == "an overwrite":
        write(table, rows([9], 9), kind="OVERWRITE", replaces=lambda entry: True)
    else:
        write(table, rows([0, 1, 9], 9))
    if bad == "a write that is merged":
        merge_unread(table.state)
    assert table.roll_back(3) is not None
    assert values(table) == dict.fromkeys(range(3), 0), "as in that snapshot"
    check_invariants(table)
    assert table.roll_back(3) is None, "it has all of these rows already"
    write(table, rows([8], 2))
    merge_unread(table.state)
    assert values(table) == {0: 0, 1: 1, 7: 1, 8: 2}
    check_invariants(table)


def test_marks_of_rows_and_rows_that_waited_come_back_together(catalog):
    table = keyed_table(catalog, WAITING)
    write(table, rows(range(2_000)))
    write(table, rows([1], 1))
    merge_unread(table.state)
    write(table, rows([1, 2], 2))
    compact(table)
    after = dict.fromkeys(range(2_000), 0) | {1: 2, 2: 2}
    assert values(table) == after
    table.roll_back(4)
    assert values(table) == after | {1: 1, 2: 0}
    assert [e.index_type for e in table.index_files()] == [DELETION_VECTORS]
    compact(table)
    assert values(table) == after


def test_values_that_waited_are_added_once(catalog):
    sums = {**WAITING, "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = make_table(catalog, {"id": "INT", "v": "INT"}, ["id"], options=sums)
    for v in (1, 2, 3):
        table.write(keyed_arrow(v, 5))
    compact(table)
    assert values(table) == {5: 6}
    table.roll_back(2)
    table.write(keyed_arrow(10, 5))
    compact(table)
    assert values(table) == {5: 13}
