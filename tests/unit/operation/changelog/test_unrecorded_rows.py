"""The producer full-compaction begins and ends where all rows are recorded: no change is lost, or recorded twice."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.past import comparable
from support.tables import DELETE, compact, keyed_arrow, keyed_table, read, reload, rows, write

from tablestore_engine.errors import ConflictError, OptionError
from tablestore_engine.operation.table_commands.alter_table import evolving
from tablestore_engine.schema.table.schema_changes import AddColumn, RemoveOption, SetOption
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.table import Table

PRODUCERS = ("none", "input", "lookup", "full-compaction")
BEFORE, AFTER = 1, 2
WAITS = "whose changes the next full compaction is to record"
AGAIN = "would record rows as new that were there before"


def table_of(catalog, producer, **more):
    return keyed_table(catalog, {"bucket": "1", "changelog-producer": producer, **more})


def update(table, number, old, new):
    """Rows that say what they change."""
    write(table, [{"id": number, "v": old}, {"id": number, "v": new}], [BEFORE, AFTER])


def replayed(table, start):
    """The state at a snapshot, with what is recorded since."""
    found = comparable(read(table, snapshot=table.snapshot(start)) if start else [])
    for row in table.changes(start, recorded=True).to_pylist():
        one = comparable([{"id": row["id"], "v": row["v"]}])
        assert row["_row_kind"] in ("+I", "+U") or not one - found, f"{row} is not there"
        found = found + one if row["_row_kind"] in ("+I", "+U") else found - one
    return found


def recorded(table, start=0):
    return sorted(tuple(row.values()) for row in reload(table).changes(start, recorded=True).to_pylist())


@pytest.mark.parametrize("before", PRODUCERS)
@pytest.mark.parametrize("after", PRODUCERS)
def test_changes_lead_on_from_before_and_after_the_producer_changes(catalog, before, after):
    table = table_of(catalog, before)
    write(table, rows([1, 2, 3]))
    compact(table)
    update(table, 1, 0, 1)
    changes = RemoveOption("changelog-producer") if after == "none" else SetOption("changelog-producer", after)
    if before != after and "full-compaction" in (before, after):
        with pytest.raises(OptionError, match=WAITS if after != "full-compaction" else AGAIN) as caught:
            table.alter(changes)
        assert "sys.compact" in caught.value.hint
        assert reload(table).schema == table.schema
    if "full-compaction" in (before, after):
        compact(table)
    if before != "none":
        assert replayed(table, 0) == comparable(read(table))
    changed = table.alter(changes)
    begun = changed.latest_snapshot().id
    update(changed, 1, 1, 2)
    write(changed, [{"id": 3, "v": 0}], [DELETE])
    if after == "full-compaction":
        compact(changed)
    if after != "none":
        assert replayed(changed, begun) == comparable(read(changed)) == comparable(rows([1], 2) + rows([2]))


@pytest.mark.parametrize("after", ["lookup", "none"])
def test_a_write_that_began_before_conflicts(catalog, after):
    """Also the first one of a table: what it writes would wait for a compaction that records nothing."""
    late = table_of(catalog, "full-compaction")
    late.alter(SetOption("changelog-producer", after))
    with pytest.raises(ConflictError, match="another layout, or constraints"):
        write(late, rows([1]))


def test_rows_that_come_during_the_check_are_noticed(catalog, monkeypatch):
    from tablestore_engine.operation.table_commands import alter_table

    table = table_of(catalog, "full-compaction")
    write(table, rows([1]))
    checked = alter_table.check_recorded

    def overtaken(*given):
        checked(*given)
        monkeypatch.setattr(alter_table, "check_recorded", checked)
        write(reload(table), rows([1], 1))

    monkeypatch.setattr(alter_table, "check_recorded", overtaken)
    with pytest.raises(OptionError, match=WAITS):
        table.alter(SetOption("changelog-producer", "lookup"))


def test_a_write_that_brings_another_producer(catalog):
    """As a dbt model does whose config changed. Processes that loaded the table before record what it says since."""
    changes = [SetOption("changelog-producer", "lookup"), AddColumn("w", parse_type("INT"))]
    table = table_of(catalog, "full-compaction")
    write(table, rows([1]))
    bringing = Table(evolving(table.state, changes, 0))
    given = keyed_arrow(2, 2).append_column("w", pa.array([7], pa.int32()))
    write(table, rows([1], 1))
    with pytest.raises(OptionError, match=WAITS):
        Table(evolving(table.state, changes, 0))
    with pytest.raises(OptionError, match=WAITS):
        bringing.write(given)
    assert len(reload(table).snapshots()) == 2
    compact(table)
    Table(evolving(table.state, changes, 0)).write(given)
    begun = reload(table).latest_snapshot().id
    write(table, rows([1], 3))
    compact(table)
    assert recorded(table, begun) == [("+U", 1, 3, None), ("-U", 1, 1, None)]


def test_a_time_without_change_tracking_begins_and_ends_where_all_rows_are_recorded(catalog):
    table = table_of(catalog, "full-compaction")
    write(table, rows([1]))
    write(table, rows([1], 1))
    with pytest.raises(OptionError, match=WAITS):
        table.alter(SetOption("change-tracking", "false"))
    compact(table)
    silent = table.alter(SetOption("change-tracking", "false"))
    write(silent, rows([1], 2))
    with pytest.raises(OptionError, match=AGAIN):
        silent.alter(SetOption("change-tracking", "true"))
    compact(silent)
    table = silent.alter(RemoveOption("change-tracking"))
    write(table, rows([1], 3))
    compact(table)
    assert recorded(table) == [("+I", 1, 0), ("+U", 1, 1), ("+U", 1, 3), ("-U", 1, 0), ("-U", 1, 2)]


def test_the_top_level_stays_where_the_rows_are(catalog):
    table = table_of(catalog, "full-compaction")
    write(table, rows([1]))
    more = SetOption("num-sorted-run.compaction-trigger", "9")
    with pytest.raises(OptionError, match=AGAIN) as caught:
        table.alter(more)
    assert caught.value.hint == "Set 'num-levels' = '6', too."
    table = table.alter(more, SetOption("num-levels", "6"))
    write(table, rows([2]))
    with pytest.raises(OptionError, match=WAITS):
        table.alter(SetOption("changelog-producer", "none"))
    compact(table)
    assert recorded(table) == [("+I", 1, 0), ("+I", 2, 0)]
    assert table.alter(SetOption("num-levels", "4")).options.num_levels == 4
