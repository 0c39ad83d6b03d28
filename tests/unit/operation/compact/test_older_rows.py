"""With sequence groups, merges of the newest runs know by a lookup which retractions have a row to take back."""

from __future__ import annotations

import pytest
from support.evolve import change
from support.files import levels
from support.invariants import check_invariants
from support.tables import by_key, compact, compact_newest, make_table, write

from tablestore_engine.operation.compact import older_rows

COLUMNS = {"id": "INT", "at": "INT", "v": "INT", "last": "INT"}
GROUPS = {
    "bucket": "1",
    "merge-engine": "partial-update",
    "fields.at.sequence-group": "v,last",
    "fields.v.aggregate-function": "sum",
}
REMOVES = {"partial-update.remove-record-on-sequence-group": "at"}
NEW, BEFORE, AFTER, DELETE = range(4)


def grouped(tmp_path, options=None, columns=None):
    return make_table(tmp_path, {**COLUMNS, **(columns or {})}, ["id"], options={**GROUPS, **(options or {})})


def put(table, *records):
    """Write records: kind, key, sequence, and the value of all other columns."""
    rows = [{"id": key, "at": at, "v": v, "last": v} for _, key, at, v in records]
    write(table, rows, [kind for kind, *_ in records])


def shown(table):
    found = {key: (row["at"], row["v"], row["last"]) for key, row in by_key(table).items()}
    check_invariants(table)
    return found


def stored(table):
    """Levels, and how many records and retractions their files hold."""
    files = [entry.file for entry in table.live_files()]
    return sorted((f.level, f.row_count, f.delete_row_count) for f in files)


@pytest.mark.parametrize("file_format", ["parquet", "avro"])
def test_updates_take_back_the_rows_that_there_are(tmp_path, file_format):
    """Key 1 has a row in an older run, key 2 has none, and key 3 has one in the merged runs."""
    table = grouped(tmp_path, {"file.format": file_format})
    put(table, (NEW, 1, 1, 5), (NEW, 9, 1, 5))
    put(table, (NEW, 3, 1, 5))
    put(table, *((kind, key, 2, v) for key in (1, 2, 3) for kind, v in ((BEFORE, 5), (AFTER, 7))))
    expected = {1: (2, 7, 7), 2: (2, 7, 7), 3: (2, 7, 7), 9: (1, 5, 5)}
    assert stored(table) == [(0, 1, 0), (0, 3, 0), (0, 3, 3), (5, 2, 0)]
    assert shown(table) == expected
    compact_newest(table, 3)
    assert stored(table) == [(4, 3, 0), (5, 2, 0)], "the large run stays as it is"
    assert shown(table) == expected
    put(table, (BEFORE, 2, 1, 7), (AFTER, 2, 3, 8))
    compact_newest(table, 2)
    assert levels(table) == [3, 4, 5]
    assert shown(table) == {**expected, 2: (3, 8, 8)}
    compact(table)
    assert stored(table) == [(5, 4, 0)]
    assert shown(table) == {**expected, 2: (3, 8, 8)}


def test_a_retraction_in_an_older_run_shows_no_row(tmp_path):
    table = grouped(tmp_path)
    put(table, (NEW, 0, 1, 1), (NEW, 9, 1, 1))
    put(table, (BEFORE, 1, 9, 5), (BEFORE, 0, 2, 5))
    put(table, (BEFORE, 1, 9, 6))
    compact_newest(table, 2)
    assert stored(table) == [(4, 2, 2), (5, 2, 0)], "without a row after it, a retraction waits"
    put(table, (BEFORE, 1, 9, 3), (AFTER, 1, 2, 7), (BEFORE, 0, 3, 3), (AFTER, 0, 3, 7))
    compact_newest(table, 2)
    assert levels(table) == [3, 4, 5]
    assert shown(table) == {0: (3, 0, 7), 1: (2, 7, 7), 9: (1, 1, 1)}
    compact(table)
    assert shown(table) == {0: (3, 0, 7), 1: (2, 7, 7), 9: (1, 1, 1)}


@pytest.mark.parametrize("merged_after", [(), (1,), (2,), (1, 2)])
def test_a_first_value_after_an_ignored_retraction(tmp_path, merged_after):
    """The row has no sequence before the -U, which is therefore the first record of the group."""
    first = {"fields.last.aggregate-function": "first_value", "fields.last.ignore-retract": "true"}
    table = grouped(tmp_path, first)
    for number, record in enumerate([(NEW, 1, None, 5), (BEFORE, 1, 1, 5), (AFTER, 1, 2, 7)]):
        put(table, record)
        if number in merged_after:
            compact(table)
    assert shown(table) == {1: (2, 2, None)}


@pytest.mark.parametrize("options", [{}, REMOVES], ids=["stays", "removes"])
def test_only_a_delete_that_may_remove_a_row_needs_all_runs(tmp_path, options):
    table = grouped(tmp_path, options)
    put(table, (NEW, 1, 1, 5), (NEW, 2, 1, 5))
    put(table, (BEFORE, 1, 2, 5), (AFTER, 1, 2, 7))
    compact_newest(table, 2)
    assert levels(table) == [4, 5]
    put(table, (DELETE, 1, 3, 7))
    put(table, (AFTER, 1, 2, 8))
    compact_newest(table, 2)
    assert levels(table) == ([5] if options else [3, 4, 5])
    assert shown(table) == {1: (2, 8, 8) if options else (3, 8, None), 2: (1, 5, 5)}


def test_a_delete_in_an_older_run_needs_all_runs(tmp_path):
    """It is from another tool, or from a time when deletes did not remove rows."""
    table = grouped(tmp_path)
    put(table, (NEW, 1, 1, 5), (NEW, 2, 1, 5))
    put(table, (DELETE, 1, 3, 5))
    put(table, (DELETE, 2, 0, 5))
    compact_newest(table, 2)
    assert stored(table) == [(4, 2, 2), (5, 2, 0)]
    table = change(table, options={**table.schema.options, **REMOVES})
    put(table, (BEFORE, 1, 4, 5), (AFTER, 1, 4, 7))
    expected = {1: (4, 7, 7), 2: (1, 0, 5)}
    assert shown(table) == expected
    compact_newest(table, 2)
    assert levels(table) == [5]
    assert shown(table) == expected


def test_only_files_and_keys_in_question_are_looked_up(tmp_path, monkeypatch):
    table = grouped(tmp_path, {"target-file-size": "1 b"})
    put(table, *((NEW, key, 1, 5) for key in range(10)))
    put(table, *((NEW, key, 1, 5) for key in range(20, 30)))
    asked = []
    look_up = older_rows.read_rows_of_keys

    def looking_up(io, file, current, columns, keys):
        asked.append(keys.values.to_pydict())
        return look_up(io, file, current, columns, keys)

    monkeypatch.setattr(older_rows, "read_rows_of_keys", looking_up)
    put(table, (NEW, 3, 2, 5), (NEW, 4, 2, 5), (BEFORE, 5, 2, 5))
    put(table, (BEFORE, 3, 3, 5), (AFTER, 3, 3, 7), (AFTER, 4, 3, 7), (BEFORE, 6, 3, 5), (AFTER, 6, 3, 7))
    compact_newest(table, 3)
    assert asked == [{"id": [6]}]


def test_floating_point_keys_are_not_looked_up(tmp_path):
    table = make_table(tmp_path, {**COLUMNS, "id": "DOUBLE"}, ["id"], options=GROUPS)
    put(table, (NEW, 0.0, 1, 5), (NEW, float("nan"), 1, 5))
    put(table, (BEFORE, -0.0, 2, 5), (AFTER, -0.0, 2, 7))
    compact_newest(table, 2)
    assert levels(table) == [5]
    assert [row["v"] for row in by_key(table).values()] == [7, 5]
