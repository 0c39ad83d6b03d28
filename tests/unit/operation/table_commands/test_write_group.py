"""Groups of writes: whatever ends between them, rows and position fit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import arrow_rows, by_key, compact, keyed_table, new_job, read, reload, schema_of, write

from tablestore_engine.errors import ConsumedElsewhereError
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.consumed_positions import (
    NO_MARK,
    UNFINISHED,
    Consumed,
    Position,
    carried,
    mark_of,
    positions_of,
)
from tablestore_engine.operation.commit.replace_table import replace_all
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.operation.table_commands.write_group import (
    WriteGroup,
    begin_group,
    finish_group,
    undo_unfinished,
)
from tablestore_engine.operation.transaction.transaction import publish, publish_change
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.storage.metadata_files.consumer_store import consumers

SOURCE = "shop.orders"
FIRST, NEXT = Position(3, "three"), Position(5, "five")
NEWS = (Consumed(SOURCE, FIRST, NEXT),)
MINE, OTHER = "dbt-1", "dbt-2"


@pytest.fixture
def table(tmp_path):
    made = keyed_table(tmp_path, {"bucket": "1", "write-only": "true"})
    write(made, [{"id": 1, "v": 1}])
    publish_change(made.state, Change("APPEND"), WriteIntent(consumed=(Consumed(SOURCE, None, FIRST),)))
    return made


def group_of(table, name=MINE):
    return WriteGroup(table.state.name, name)


def step(table, group, number, *consumed):
    intent = WriteIntent(identity=CommitIdentity(f"{group.name}-{number}", 1), consumed=consumed)
    job = new_job(table)
    job = type(job)(**{**vars(job), "intent": intent})
    files = write_table(job, arrow_rows(table.schema, [{"id": number, "v": number}]))
    return publish(table.state, job, files, Change("APPEND"))


def begun(table, name=MINE, *, steps=1):
    group = group_of(table, name)
    begin_group(table.state, group)
    for number in range(2, 2 + steps):
        step(table, group, number, group.goes_on(anew=False))
    return group


def test_the_position_comes_with_the_end(table):
    group = begun(table, steps=2)
    assert positions_of(table.latest_snapshot()) == {SOURCE: FIRST}
    assert mark_of(table.latest_snapshot()).mark == MINE
    finish_group(table.state, group, NEWS, anew=False)
    assert sorted(by_key(table)) == [1, 2, 3]
    assert positions_of(table.latest_snapshot()) == {SOURCE: NEXT}
    assert UNFINISHED not in carried(table.latest_snapshot())
    assert not consumers(table.io, table.paths)
    assert undo_unfinished(table.state) == ""
    assert sorted(by_key(table)) == [1, 2, 3]


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_unfinished_writes_are_undone(table, steps):
    begun(table, steps=steps)
    compact(table)
    reload(table).expire_snapshots(Retention(1, 1, 0, 1_000))
    assert undo_unfinished(table.state) == ""
    assert sorted(by_key(table)) == [1]
    assert positions_of(table.latest_snapshot()) == {SOURCE: FIRST}
    assert mark_of(table.latest_snapshot()) == NO_MARK
    assert undo_unfinished(table.state) == ""
    finish_group(table.state, begun(table, OTHER), NEWS, anew=False)
    assert sorted(by_key(table)) == [1, 2]


def test_a_build_that_was_undone_writes_nothing_more(table):
    group = begun(table)
    undo_unfinished(table.state)
    for act in (
        lambda: step(table, group, 3, group.goes_on(anew=False)),
        lambda: finish_group(table.state, group, NEWS, anew=False),
    ):
        with pytest.raises(ConsumedElsewhereError, match="another run"):
            act()
    assert sorted(by_key(table)) == [1]


def test_one_build_at_a_time(table):
    begun(table)
    with pytest.raises(ConsumedElsewhereError):
        begin_group(table.state, group_of(table, OTHER))


def test_commits_without_rows_may_be_sent_again(table):
    group = begun(table, steps=0)
    begin_group(table.state, group)
    step(table, group, 2, group.goes_on(anew=False))
    for _ in range(2):
        finish_group(table.state, group, NEWS, anew=False)
    assert len(table.snapshots()) == 5


def test_rows_of_others_are_not_undone(table):
    begun(table)
    write(table, [{"id": 9, "v": 9}])
    assert "changed rows after" in undo_unfinished(table.state)
    assert sorted(by_key(table)) == [1, 2, 9]


def test_a_table_that_had_no_rows(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    begun(table)
    assert undo_unfinished(table.state) == ""
    assert read(table) == []


def test_rows_that_a_killed_write_left_are_restored_too(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1", "deletion-vectors.enabled": "true"})
    table.write(arrow_rows(table.schema, [{"id": 1, "v": 1}]))
    write(table, [{"id": 1, "v": 7}])  # at level 0: killed before its compaction
    begun(table)
    assert undo_unfinished(table.state) == ""
    assert {key: row["v"] for key, row in by_key(table).items()} == {1: 7}


def test_a_table_that_is_made_anew(table):
    group = group_of(table)
    step(table, group, 2, group.replaces())
    assert "anew" in undo_unfinished(table.state)
    finish_group(table.state, group, (Consumed(SOURCE, FIRST, NEXT),), anew=True)
    assert undo_unfinished(table.state) == ""


@pytest.mark.parametrize("columns", [{"id": "INT", "v": "INT"}, {"id": "INT", "w": "INT"}])
def test_a_table_that_is_made_anew_forgets_what_was_unfinished(table, columns):
    begun(table)
    write(table, [{"id": 9, "v": 9}])
    wanted = replace(schema_of(columns, ["id"]), options=table.schema.options)
    replace_empty(table.state, wanted)
    assert mark_of(table.latest_snapshot()) == NO_MARK
    assert undo_unfinished(table.state) == ""
    assert not consumers(table.io, table.paths)


def test_a_group_that_makes_the_table_anew_begins_anew_with_its_sources(table):
    group = group_of(table)
    begin_group(table.state, group, anew=True)
    replaced = replace_all(table.schema, table.schema)
    publish_change(table.state, replaced, WriteIntent(consumed=(group.replaces(),)))
    step(table, group, 2, group.goes_on(anew=True))
    finish_group(table.state, group, (Consumed(SOURCE, None, NEXT),), anew=True)
    assert sorted(by_key(table)) == [2]
    assert positions_of(table.latest_snapshot()) == {SOURCE: NEXT}
    assert undo_unfinished(table.state) == ""


def test_a_build_that_makes_the_table_anew_follows_one_that_cannot_be_undone(table):
    begun(table)
    write(table, [{"id": 9, "v": 9}])
    group = group_of(table, OTHER)
    begin_group(table.state, group, anew=True)
    assert "anew" in undo_unfinished(table.state), "its rows are those of the first group until it ends"
    step(table, group, 2, group.replaces())
    finish_group(table.state, group, NEWS, anew=True)
    assert undo_unfinished(table.state) == ""
    assert not consumers(table.io, table.paths)


def test_the_mark_is_of_one_table(tmp_path):
    audit = keyed_table(tmp_path)
    step(audit, WriteGroup("default.another", MINE), 2, WriteGroup("default.another", MINE).goes_on(anew=False))
    assert mark_of(audit.latest_snapshot()) == NO_MARK
    assert sorted(by_key(audit)) == [2]


def test_all_rows_are_not_added_to_those_of_an_earlier_run(table):
    """Of two runs that both read everything, the second one would add each row again."""
    with pytest.raises(ConsumedElsewhereError, match="after none"):
        step(table, group_of(table), 2, Consumed(SOURCE, None, NEXT))
    assert sorted(by_key(table)) == [1]
