"""What the appends of a process record that knows the table without its newest columns, or with older options."""

from __future__ import annotations

import pytest
from support.tables import DELETE, compact, keyed_table, reload, rows, write

from tablestore_engine.schema.table.schema_changes import AddColumn, RenameColumn, SetOption
from tablestore_engine.schema.types.types import parse_type

LOOKUP = {"bucket": "1", "changelog-producer": "lookup"}
IGNORE = "changelog-producer.row-deduplicate-ignore-fields"


def changes(table, start, *, recorded):
    return sorted(tuple(row.values()) for row in reload(table).changes(start, recorded=recorded).to_pylist())


@pytest.fixture
def widened(catalog):
    """The table as a process knows it, and as it is since another one added a column, and wrote values into it."""
    old = keyed_table(catalog, LOOKUP)
    write(old, rows([1]))
    new = old.alter(AddColumn("w", parse_type("INT")))
    write(new, [{"id": number, "v": 0, "w": 7} for number in (1, 2, 3)])
    return old, new, new.latest_snapshot().id


def test_a_row_that_is_replaced_is_recorded_with_a_column_that_the_writer_does_not_know(widened):
    old, new, begun = widened
    write(old, rows([1]))  # which takes the value of the column alone
    write(old, rows([2], 2))
    write(old, [{"id": 3, "v": None}], [DELETE])
    expected = [("+U", 1, 0, None), ("+U", 2, 2, None), ("-D", 3, 0, 7), ("-U", 1, 0, 7), ("-U", 2, 0, 7)]
    assert changes(new, begun, recorded=True) == expected == changes(new, begun, recorded=False)


def test_columns_that_do_not_count_have_the_names_of_now(catalog):
    old = keyed_table(catalog, {**LOOKUP, IGNORE: "v"})
    write(old, rows([1]))
    new = old.alter(RenameColumn("v", "u"), AddColumn("v", parse_type("INT")))
    write(new, [{"id": 1, "u": 1, "v": 0}])
    begun = new.latest_snapshot().id
    write(old, rows([1], 2))
    assert changes(new, begun, recorded=True) == [("+U", 1, 2, None), ("-U", 1, 1, 0)]
    write(old, rows([1], 3))
    assert len(changes(new, begun, recorded=True)) == 2


@pytest.mark.parametrize("after", ["input", "lookup"])
def test_changes_are_recorded_once_the_table_records_them(catalog, after):
    """Unless the statement does not want that."""
    old = keyed_table(catalog, {"bucket": "1"})
    new = old.alter(SetOption("changelog-producer", after))
    write(new, rows([1, 2]))
    begun = new.latest_snapshot().id
    write(old, rows([1], 1))
    write(old.with_options({"change-tracking": "false"}, "statement"), rows([2], 1))
    write(old.with_options({"changelog-producer": "lookup"}, "statement"), rows([2], 2))
    expected = [("+U", 1, 1), ("+U", 2, 2), ("-U", 1, 0), ("-U", 2, 1)]
    assert changes(new, begun, recorded=True) == expected


@pytest.mark.parametrize("late", [False, True])
def test_rows_as_they_came_are_not_taken_for_what_they_changed(catalog, late):
    """They were recorded by a process that knew another producer, or for one statement."""
    old = keyed_table(catalog, {**LOOKUP, **({"changelog-producer": "input"} if late else {})})
    new = old.alter(SetOption("changelog-producer", "lookup"))
    write(new, rows([1, 2]))
    begun = new.latest_snapshot().id
    write(old if late else new.with_options({"changelog-producer": "input"}, "statement"), rows([1]) + rows([2], 2))
    assert changes(new, begun, recorded=True) == [("+I", 1, 0), ("+I", 2, 2)]
    assert changes(new, begun, recorded=False) == [("+U", 2, 2), ("-U", 2, 0)]


def test_changes_that_did_not_count_for_one_statement_are_changes(catalog):
    table = keyed_table(catalog, LOOKUP).alter(AddColumn("w", parse_type("INT")))
    write(table, [{"id": 1, "v": 0, "w": 0}, {"id": 2, "v": 0, "w": 0}])
    begun = table.latest_snapshot().id
    write(table.with_options({IGNORE: "w"}, "statement"), [{"id": 1, "v": 0, "w": 1}, {"id": 2, "v": 1, "w": 0}])
    both = [("+U", 1, 0, 1), ("+U", 2, 1, 0), ("-U", 1, 0, 0), ("-U", 2, 0, 0)]
    assert changes(table, begun, recorded=True) == both[1::2]
    assert changes(table, begun, recorded=False) == both


def test_the_top_level_is_that_of_the_table(catalog):
    """Not of a statement whose files are below it, and of which the next full compaction records the changes."""
    table = keyed_table(catalog, {"bucket": "1", "changelog-producer": "full-compaction"})
    write(table.with_options({"num-levels": "3"}, "statement"), rows([1]))
    assert changes(table, 0, recorded=True) == []
    compact(table)
    assert changes(table, 0, recorded=True) == [("+I", 1, 0)]
