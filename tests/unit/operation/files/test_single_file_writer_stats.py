"""How much of a column's statistics a table keeps, seen in the files that a read skips and in the metadata."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.tables import by_key, compact, make_table, write

from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.schema.table.predicate import Compare, IsNull

COLUMNS = {"id": "INT", "n": "INT", "s": "STRING"}
LONG = "a" * 20


def table_of(tmp_path, keys=(), **options):
    table = make_table(tmp_path, COLUMNS, keys, options=options)
    write(table, [{"id": i, "n": i, "s": LONG + str(i)} for i in range(3)])
    write(table, [{"id": i, "n": i, "s": LONG + str(i)} for i in range(10, 13)])
    return table


def stats_of(table):
    """Statistics of the first file: {column: (least, greatest, nulls)}, and the columns that the entry names."""
    file = min((e.file for e in table.live_files()), key=lambda file: file.max_sequence_number)
    names = table.schema.field_names if file.value_stats_cols is None else file.value_stats_cols
    types = [table.schema.field(name).type for name in names]
    low, high = (decode_row(row, types) for row in (file.value_stats.min_values, file.value_stats.max_values))
    found = dict(zip(names, zip(low, high, file.value_stats.null_counts, strict=True), strict=True))
    return found, file.value_stats_cols


@pytest.mark.parametrize(
    ("mode", "number", "text"),
    [
        ("full", (0, 2, 0), (LONG + "0", LONG + "2", 0)),
        ("truncate(16)", (0, 2, 0), ("a" * 16, "a" * 15 + "b", 0)),
        ("truncate( 4 )", (0, 2, 0), ("aaaa", "aaab", 0)),
        ("truncate(21)", (0, 2, 0), (LONG + "0", LONG + "2", 0)),
        ("counts", (None, None, 0), (None, None, 0)),
    ],
)
def test_each_mode_keeps_its_statistics(tmp_path, mode, number, text):
    found, named = stats_of(table_of(tmp_path, **{"metadata.stats-mode": mode}))
    assert found == {"id": number, "n": number, "s": text}
    assert named is None, "all columns have some"


def test_none_keeps_nothing(tmp_path):
    table = table_of(tmp_path, **{"metadata.stats-mode": "none"})
    assert stats_of(table) == ({}, ())
    assert len(table.scan(predicate=Compare("n", "=", 1)).files) == 2, "there is nothing to skip a file by"
    check_invariants(table)


def test_of_single_columns(tmp_path):
    table = table_of(tmp_path, **{"metadata.stats-mode": "none", "fields.n.stats-mode": "full"})
    assert stats_of(table) == ({"n": (0, 2, 0)}, ("n",))
    assert len(table.scan(predicate=Compare("n", "=", 1)).files) == 1
    assert len(table.scan(predicate=Compare("id", "=", 1)).files) == 2
    check_invariants(table)


def test_stored_densely_or_not(tmp_path):
    options = {"fields.n.stats-mode": "none", "metadata.stats-dense-store": "false"}
    table = table_of(tmp_path, **options)
    found, named = stats_of(table)
    assert named is None
    assert found["n"] == (None, None, None)
    assert found["id"] == (0, 2, 0)
    assert len(table.scan(predicate=Compare("n", "=", 1)).files) == 2
    assert len(table.scan(predicate=IsNull("n")).files) == 2
    check_invariants(table)


def test_columns_that_cannot_have_any_are_left_out(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "many": {"type": "ARRAY", "element": "INT"}})
    write(table, [{"id": 1, "many": [1]}])
    assert stats_of(table) == ({"id": (1, 1, 0)}, ("id",))
    check_invariants(table)


def test_keys_have_statistics_in_any_mode(tmp_path):
    """Compaction and merging go by them."""
    table = table_of(tmp_path, ["id"], **{"metadata.stats-mode": "none"})
    (first, *_) = (e.file for e in table.live_files())
    types = [f.type for f in table.schema.trimmed_key_fields]
    assert decode_row(first.key_stats.min_values, types) == decode_row(first.min_key, types)
    assert len(by_key(table)) == 6
    compact(table)
    assert len(by_key(table)) == 6
    check_invariants(table)
