"""What compactions record does not depend on who compacts: on its statement, or on when it loaded the table."""

from __future__ import annotations

import pytest
from support.tables import DELETE, compact, keyed_table, reload, rows, write

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.schema.table.schema_changes import AddColumn, SetOption
from tablestore_engine.schema.types.types import parse_type

VECTORS = {"deletion-vectors.enabled": "true", "bucket": "1"}
LOOKUP = {**VECTORS, "changelog-producer": "lookup"}
UNTRACKED = {"change-tracking": "false"}


def recorded(table, after=0):
    """The recorded changes, as (kind, *values)."""
    table = reload(table)
    return [tuple(row.values()) for row in table.changes(after, recorded=True).to_pylist()]


@pytest.mark.parametrize(
    "hint",
    [
        UNTRACKED,
        {"changelog-producer": "none"},
        {"changelog-producer.row-deduplicate": "false"},
        {"changelog-producer.row-deduplicate-ignore-fields": "v"},
    ],
    ids=str,
)
def test_a_statement_cannot_choose_what_compactions_of_new_rows_record(catalog, hint):
    """The rows of others that wait are merged with its own."""
    table = keyed_table(catalog, LOOKUP)
    with pytest.raises(OptionError, match="compactions of new rows record"):
        table.with_options(hint, "statement")
    table.with_options({"changelog-producer": "lookup", "target-file-size": "1 mb"}, "statement")


def test_a_statement_may_record_nothing_where_its_own_commit_records(catalog):
    table = keyed_table(catalog, {**VECTORS, "changelog-producer": "input"})
    write(table, rows([1], 1))
    write(table.with_options(UNTRACKED, "statement"), rows([2], 2))
    merge_unread(table.with_options(UNTRACKED, "statement").state)
    assert recorded(table) == [("+I", 1, 1)]
    with pytest.raises(OptionError, match="compactions of new rows record"):
        table.with_options({"changelog-producer": "lookup"}, "statement")


def test_a_full_compaction_by_an_untracked_statement_records_the_changes_of_others(catalog):
    table = keyed_table(catalog, {"bucket": "1", "changelog-producer": "full-compaction"})
    write(table, rows([1], 1))
    write(table, rows([1, 2], 2))
    hinted = table.with_options(UNTRACKED, "statement")
    write(hinted, rows([3], 3))
    compact(hinted)
    assert sorted(recorded(table)) == [("+I", 1, 1), ("+I", 2, 2), ("+I", 3, 3), ("+U", 1, 2), ("-U", 1, 1)]


@pytest.mark.parametrize("options", [LOOKUP, {"bucket": "1", "changelog-producer": "full-compaction"}], ids=str)
def test_a_process_that_does_not_know_a_new_column_records_it(catalog, options):
    table = keyed_table(catalog, options)
    write(table, rows([1, 2], 0))
    compact(table)
    after = table.latest_snapshot().id
    write(table.alter(AddColumn("w", parse_type("INT"))), [{"id": 2, "v": 1, "w": 6}, {"id": 3, "v": 3, "w": 7}])
    if options is LOOKUP:
        merge_unread(table.state)
    else:
        compact(table)
    assert sorted(recorded(table, after)) == [("+I", 3, 3, 7), ("+U", 2, 1, 6), ("-U", 2, 0, None)]


@pytest.mark.parametrize("options", [LOOKUP, {"bucket": "1", "changelog-producer": "full-compaction"}], ids=str)
@pytest.mark.parametrize("deletes", ["new", "old"])
def test_a_process_that_does_not_know_a_column_empties_a_bucket(catalog, options, deletes):
    """The row that it removes is recorded with the column."""
    old = keyed_table(catalog, options)
    new = old.alter(AddColumn("w", parse_type("INT")))
    write(new, [{"id": 1, "v": 1, "w": 7}])
    compact(new)
    after = new.latest_snapshot().id
    write({"new": new, "old": old}[deletes], rows([1], 1), [DELETE])
    compact(old)
    assert not reload(new).live_files()
    assert recorded(new, after) == [("-D", 1, 1, 7)]


STEPS = ["input to lookup", "lookup to input", "lookup to none", "none to lookup"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("writer", ["before", "late"])
@pytest.mark.parametrize("compactor", ["old", "new"])
def test_rows_that_wait_are_recorded_as_their_writer_knew_the_table(catalog, step, writer, compactor):
    """Once each: by its own commit, or by the compaction of any process, which also records what no commit did."""
    before, after = step.split(" to ")
    old = keyed_table(catalog, {**VECTORS, "changelog-producer": before, "write-only": "true"})
    write(old, rows([1], 0))
    begun = old.latest_snapshot().id
    if writer == "before":
        write(old, rows([1], 1))
    new = old.alter(SetOption("changelog-producer", after))
    if writer == "late":
        write(old, rows([1], 1))
    write(new, rows([2], 2))
    merge_unread((old if compactor == "old" else new).state)
    reading = reload(new) if after != "none" else reload(new).alter(SetOption("changelog-producer", "input"))
    mine = {"input": [("+I", 1, 1)], "lookup": [("+U", 1, 1), ("-U", 1, 0)]}
    mine["none"] = mine["lookup"]  # which the table has when its compaction comes
    others = {"input": [("+I", 2, 2)], "lookup": [("+I", 2, 2)], "none": []}
    assert sorted(recorded(reading, begun)) == sorted([*mine[before], *others[after]])


@pytest.mark.parametrize("compactor", ["old", "new"])
def test_rows_of_a_time_without_change_tracking_are_recorded_when_it_is_over(catalog, compactor):
    tracked = keyed_table(catalog, {**LOOKUP, "write-only": "true"})
    write(tracked, rows([1], 0))
    begun = tracked.latest_snapshot().id
    old = tracked.alter(SetOption("change-tracking", "false"))
    write(old, rows([1, 2], 1))
    new = old.alter(SetOption("change-tracking", "true"))
    merge_unread({"old": old, "new": new}[compactor].state)
    assert sorted(recorded(new, begun)) == [("+I", 2, 1), ("+U", 1, 1), ("-U", 1, 0)]


@pytest.mark.parametrize("untracked", [{"changelog-producer": "none"}, {"changelog-producer": "input", **UNTRACKED}])
def test_a_statement_cannot_record_what_a_later_compaction_would_record_again(catalog, untracked):
    table = keyed_table(catalog, {**VECTORS, **untracked})
    with pytest.raises(OptionError, match="compactions of new rows record"):
        table.with_options({"changelog-producer": "input", "change-tracking": "true"}, "statement")
