"""Which plain files a retraction may take rows from, by their statistics."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest
from support.tables import arrow_rows, compact, make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.scan.multiset_file_overlap import overlapping_with
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type


def retract(table, rows):
    given = arrow_rows(table.schema, rows).append_column("_row_kind", pa.array(["-D"] * len(rows)))
    Catalog(table.path.rsplit("/", 2)[0]).load_table("default", "t").write(given)


def overlaps(table):
    """Whether each plain file, in the order of the writes, may hold some of the rows."""
    files = [e.file for e in sorted(table.live_files(), key=lambda e: e.file.creation_time_millis)]
    plain = [f for f in files if not f.delete_row_count]
    may = overlapping_with([f for f in files if f.delete_row_count], table.schema, table.schemas.load)
    return {f.row_count: may(f) for f in plain}


@pytest.mark.parametrize(
    ("kind", "values", "retracted", "expected"),
    [
        ("INT", [[1, 2], [5, 6, 9], [None]], [6], {2: False, 3: True, 1: False}),
        ("INT", [[1, 2], [5, 6, None], [None]], [None], {2: False, 3: True, 1: True}),
        ("INT", [[1, 2], [5, 6, None], [None]], [None, 2], {2: True, 3: True, 1: True}),
        ("STRING", [["a", "b"], ["x" * 30, "y", "z"]], ["x" * 20], {2: False, 3: True}),
        (
            "DATE",
            [[date(2024, 1, 1)], [date(2024, 2, 1), date(2024, 3, 1)]],
            [date(2024, 2, 9)],
            {1: False, 2: True},
        ),
        # Nothing is known of the bounds of floats.
        ("DOUBLE", [[1.0], [5.0, 6.0]], [7.0], {1: True, 2: True}),
    ],
)
def test_values_that_lie_apart(tmp_path, kind, values, retracted, expected):
    table = make_table(tmp_path, {"v": kind, "same": "INT"})
    for some in values:
        write(table, [{"v": v, "same": 1} for v in some])
    retract(table, [{"v": v, "same": 1} for v in retracted])
    assert overlaps(table) == expected


def test_one_column_is_enough(tmp_path):
    table = make_table(tmp_path, {"a": "INT", "b": "INT"})
    write(table, [{"a": 1, "b": 1}, {"a": 1, "b": 9}])
    write(table, [{"a": 1, "b": 20}])
    retract(table, [{"a": 1, "b": 9}])
    assert overlaps(table) == {2: True, 1: False}


def test_a_column_that_came_later(tmp_path):
    catalog = Catalog(tmp_path)
    table = make_table(catalog, {"a": "INT"})
    write(table, [{"a": 1}, {"a": 2}])
    table = catalog.alter_table("default", "t", [AddColumn("b", parse_type("INT"))])
    write(table, [{"a": 1, "b": 1}])
    retract(table, [{"a": 1, "b": 1}])
    assert overlaps(catalog.load_table("default", "t")) == {2: False, 1: True}
    assert sorted(map(repr, read(table))) == sorted(map(repr, [{"a": 1, "b": None}, {"a": 2, "b": None}]))


def test_files_without_retracted_rows_are_not_rewritten(tmp_path):
    """Large files stay where they are, by their statistics or after a look into them."""
    options = {"target-file-size": "1 b", "compaction.min.file-num": "100"}
    table = make_table(tmp_path, {"a": "INT"}, options=options)
    for some in ([1, 2], [5, 7], [6, 6], [4, 9]):
        write(table, [{"a": v} for v in some])
    before = {e.file.file_name for e in table.live_files()}
    retract(table, [{"a": 6}])
    assert overlaps(table) == {2: True}
    compact(table)
    after = {e.file.file_name for e in table.live_files()}
    assert len(after & before) == 3
    assert sorted(row["a"] for row in read(table)) == [1, 2, 4, 5, 6, 7, 9]
