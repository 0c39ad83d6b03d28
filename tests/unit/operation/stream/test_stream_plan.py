"""A stream that reads batch by batch has what the table has, whatever it begins with and whatever limits it has."""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter

import pytest
from support.append_deletion_vectors import prepared_delete
from support.soak import seeds
from support.tables import PUT, compact, keyed_table, make_table, partitioned_table, reload, rows, write

from tablestore_engine.errors import ChangesNotFound
from tablestore_engine.operation.changelog.change_plan import plan_changes
from tablestore_engine.operation.compact.auto_compaction import merge_unread, run_and_commit
from tablestore_engine.operation.compact.pick_tasks import pick_tasks
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.history.change_range import change_range
from tablestore_engine.operation.scan.plan_scan import stored_buckets
from tablestore_engine.operation.stream.pieces import packed, pieces_of, rows_of
from tablestore_engine.operation.stream.position import StreamPosition
from tablestore_engine.operation.stream.stream_options import Limits, StreamOptions
from tablestore_engine.operation.stream.stream_plan import ChangeSource, StreamPlanner
from tablestore_engine.operation.table_commands.alter_table import alter_table
from tablestore_engine.schema.table.schema_changes import AddColumn, SetOption
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.metadata_files.consumer_store import consumers

NEWEST = Retention(1, 1, 0, 100)
DELETE = 3


NO_LIMITS = Limits()
INPUT = {"bucket": "1", "deletion-vectors.enabled": "true", "changelog-producer": "input"}


def batches(planner, position, limits=NO_LIMITS):
    """What a stream reads until nothing is new: the positions after its batches, and the rows of each."""
    found = []
    while (following := planner.following(position, limits)) != position:
        pieces = planner.pieces(position, following)
        again = planner.pieces(StreamPosition.from_dict(position.to_dict()), following)
        assert again == pieces, "a batch that is read again has the same rows"
        tables = [table for task in packed(pieces) for piece in task for table in rows_of(planner.state, piece)]
        found.append((following, [row for table in tables for row in table.to_pylist()]))
        position = following
    return found


def apply(state, changes):
    """A multiset of rows with changes applied."""
    for row in changes:
        kind = row.pop("_row_kind")
        state[tuple(row.items())] += 1 if kind in ("+I", "+U") else -1
    return +state if min(state.values(), default=0) >= 0 else pytest.fail(f"taken back before it was there: {state}")


def content(table):
    return Counter(tuple(row.items()) for row in table.to_arrow().to_pylist())


def history(table, keyed, dice):
    """One more commit of some kind."""
    choice = dice.random()
    if choice < 0.15:
        compact(table)
    elif choice < 0.5 and not keyed and table.options.deletion_vectors:
        prepared_delete(table, dice.sample(range(9), 2), rows(dice.sample(range(9), dice.randrange(2)), v=7))()
    elif choice < 0.25 and not keyed:
        write(table, rows([dice.randrange(9)], v=dice.randrange(3)), kind="OVERWRITE", replaces=lambda entry: True)
    else:
        ids = dice.sample(range(9), 3)
        kinds = [dice.choice([PUT, PUT, DELETE]) for _ in ids] if keyed else None
        write(table, rows(ids, v=dice.randrange(3)), kinds)
        if keyed and table.options.deletion_vectors:
            merge_unread(table.state)  # only then the rows can be read


@pytest.mark.parametrize("seed", seeds(2, 8))
@pytest.mark.parametrize("kind", ["keyed", "lookup", "vectors", "looked up", "append", "buckets", "marks"])
def test_any_stream_arrives_at_the_table(tmp_path, kind, seed):
    dice = random.Random(seed)
    keyed = kind in ("keyed", "lookup", "vectors", "looked up")
    more = {"lookup": {"changelog-producer": "lookup"}, "vectors": {"deletion-vectors.enabled": "true"}}
    more["looked up"] = {**more["lookup"], **more["vectors"]}
    options = more.get(kind, {})
    if keyed:
        table = keyed_table(tmp_path, {"bucket": "2", **options})
    else:
        more = {"bucket": "2", "bucket-key": "id"} if kind == "buckets" else {}
        more |= {"deletion-vectors.enabled": "true"} if kind == "marks" else {}
        table = make_table(tmp_path, {"id": "INT", "v": "INT"}, options=more)
    limits = dice.choice([Limits(), Limits(files=1), Limits(rows=2), Limits(files=3, rows=7)])
    for _ in range(dice.randrange(4)):
        history(table, keyed, dice)
    planner = StreamPlanner(table.state)
    sources = {"lookup": ChangeSource.RECORDED, "append": ChangeSource.FILES, "buckets": ChangeSource.FILES}
    sources["looked up"] = ChangeSource.RECORDED
    assert planner.source is sources.get(kind, ChangeSource.STATES)
    latest = dice.random() < 0.5
    state = content(table) if latest else Counter()
    position = planner.begin(StreamOptions("latest" if latest else "latest-full"))
    for _ in range(5):
        for _ in range(dice.randrange(1, 4)):
            history(table, keyed, dice)
        for reached, changes in batches(planner, position, limits):
            position, state = reached, apply(state, changes)
        assert state == content(table)


def test_limits_cut_the_rows_of_a_snapshot_and_the_commits_after_it(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    for number in range(3):
        write(table, rows([number, number]))
    planner = StreamPlanner(table.state)
    position = planner.begin(StreamOptions())
    for number in range(3, 7):
        write(table, rows([number]))
    found = batches(planner, position, Limits(files=2))
    assert [(one.snapshot, one.pieces, one.whole) for one, _ in found] == [
        (3, 2, True), (3, -1, False), (5, -1, False), (7, -1, False),
    ]  # fmt: skip
    assert [len(changes) for _, changes in found] == [4, 2, 2, 2]
    assert [len(changes) for _, changes in batches(planner, position, Limits(rows=1))] == [2, 2, 2, 1, 1, 1, 1]
    assert len(batches(planner, position)) == 2, "all rows, then all changes"
    assert planner.following(position, Limits(), last=3).snapshot == 3


def test_begin(tmp_path):
    table = keyed_table(tmp_path)
    planner = StreamPlanner(table.state)
    assert planner.begin(StreamOptions()) == planner.begin(StreamOptions("latest")) == StreamPosition(0)
    one, two = write(table, rows([1])), write(table, rows([2]))
    write(table, rows([3]))

    def begun(**options):
        return planner.begin(StreamOptions(**options))

    assert begun(mode="from-snapshot", snapshot=1) == StreamPosition(0)
    assert begun(mode="from-snapshot", snapshot=3) == StreamPosition.after(two)
    assert begun(mode="from-snapshot", snapshot=4).snapshot == 3, "the next one to come"
    assert begun(mode="from-timestamp", millis=one.time_millis) == StreamPosition(0), "its commit is among the changes"
    assert begun(mode="from-timestamp", millis=2**50).snapshot == 3
    for wrong in (5, 99):
        with pytest.raises(ChangesNotFound, match=rf"no snapshot {wrong} .* snapshots 1 to 3"):
            begun(mode="from-snapshot", snapshot=wrong)
    table.expire_snapshots(NEWEST)
    with pytest.raises(ChangesNotFound, match=r"no snapshot 2 any more.*snapshots 3 to 3"):
        begun(mode="from-snapshot", snapshot=2)


def test_recorded_changes_outlive_their_snapshots(tmp_path):
    kept = {"changelog.num-retained.min": "10", "changelog.num-retained.max": "10"}
    table = keyed_table(tmp_path, {"changelog-producer": "lookup", **kept})
    for number in range(4):
        write(table, rows([number]))
    table.expire_snapshots(NEWEST)
    assert [one.id for one in table.snapshots()] == [4]
    planner = StreamPlanner(table.state)
    position = planner.begin(StreamOptions("from-snapshot", snapshot=2))
    ((_, changes),) = batches(planner, position)
    assert [row["id"] for row in changes] == [1, 2, 3]


def test_a_time_is_found_in_changelogs_that_outlive_their_snapshots(tmp_path):
    kept = {"changelog.num-retained.min": "10", "changelog.num-retained.max": "10"}
    table = keyed_table(tmp_path, {"changelog-producer": "lookup", **kept})
    made = []
    for number in range(5):
        made.append(write(table, rows([number])))
        time.sleep(0.002)
    table.expire_snapshots(NEWEST)
    planner = StreamPlanner(table.state)

    def begun(millis):
        return planner.begin(StreamOptions("from-timestamp", millis=millis))

    assert begun(0) == begun(made[0].time_millis) == StreamPosition(0)
    for before, one in itertools.pairwise(made):
        assert begun(one.time_millis) == StreamPosition.after(before)
    ((_, changes),) = batches(planner, begun(made[2].time_millis))
    assert [row["id"] for row in changes] == [2, 3, 4]
    table.state.changelogs.remove([2], 3)
    assert begun(0).snapshot == 2, "of changelogs before a gap not all changes are kept"


def test_a_consumer_within_a_commit_keeps_the_state_before_it(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "4"})
    for number in range(3):
        write(table, rows(range(20), v=number))
    planner = StreamPlanner(table.state)
    position = planner.following(StreamPosition.after(table.snapshot(1)), Limits(files=1))
    assert (position.snapshot, position.is_within, position.whole) == (2, True, False)
    planner.keep("me", position)
    table.expire_snapshots(NEWEST)
    read = [row for _, changes in batches(planner, planner.begin(StreamOptions(consumer="me"))) for row in changes]
    assert {row["id"] for row in read if row["v"] == 2} == set(range(20))


def test_a_consumer_keeps_what_it_needs_and_goes_on_there(tmp_path):
    keyed, plain = keyed_table(tmp_path), make_table(tmp_path, {"id": "INT", "v": "INT"}, name="p")
    for table, needs in ((keyed, 1), (plain, 2)):
        write(table, rows([1]))
        planner = StreamPlanner(table.state)
        planner.keep("me", planner.begin(StreamOptions("latest")))
        assert consumers(table.io, table.paths) == {"me": needs}
        for number in (2, 3):
            write(table, rows([number]))
        table.expire_snapshots(NEWEST)
        assert table.snapshots()[0].id == needs
        position = planner.begin(StreamOptions(consumer="me"))
        ((_, changes),) = batches(planner, position)
        assert sorted(row["id"] for row in changes) == [2, 3]
        assert planner.begin(StreamOptions(consumer="me", ignore_progress=True)).whole
        planner.keep("half", StreamPosition.within(table.latest_snapshot(), 0, whole=True))
        assert planner.begin(StreamOptions(consumer="half")).whole, "in the middle of a snapshot's rows"


def test_lost_snapshots_are_named(tmp_path):
    table = keyed_table(tmp_path)
    for number in range(3):
        write(table, rows([number]))
    planner = StreamPlanner(table.state)
    first = StreamPosition.after(table.snapshot(1))
    table.expire_snapshots(NEWEST)
    with pytest.raises(ChangesNotFound, match=r"no snapshot 2 any more.*snapshots 3 to 3.*consumer-id"):
        planner.following(first, Limits())
    with pytest.raises(ChangesNotFound, match="built anew"):
        planner.following(StreamPosition(3, "another"), Limits())
    with pytest.raises(ChangesNotFound, match="built anew"):
        planner.following(StreamPosition(4), Limits())


def test_changed_columns_end_a_stream_that_goes_on_when_it_is_started_again(tmp_path):
    table = keyed_table(tmp_path)
    write(table, rows([1]))
    planner = StreamPlanner(table.state)
    position = planner.begin(StreamOptions("latest"))
    changed = alter_table(table.state, [AddColumn("w", parse_type("INT"))], 0)
    table = reload(table)
    assert changed.schema.field_names == ("id", "v", "w")
    write(table, [{"id": 2, "v": 1, "w": 5}])
    with pytest.raises(ChangesNotFound, match=r"columns of table default.t were changed.*same checkpoint"):
        planner.following(position, Limits())
    ((_, changes),) = batches(StreamPlanner(table.state), position)
    assert changes == [{"_row_kind": "+I", "id": 2, "v": 1, "w": 5}]


def test_rows_that_vectors_delete_are_in_the_pieces_of_a_bucket(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1", "deletion-vectors.enabled": "true"})
    steps = [(rows(range(1_000)), None), (rows([2]) + rows([5], v=7), [DELETE, PUT]), (rows([3]), [DELETE])]
    merged = []
    for given, kinds in steps:
        write(table, given, kinds)
        merge_unread(table.state)
        merged.append(table.latest_snapshot().id)
    (before, one, two) = merged
    updated = [{"_row_kind": "-U", "id": 5, "v": 0}, {"_row_kind": "+U", "id": 5, "v": 7}]
    deleted = [{"_row_kind": "-D", "id": number, "v": 0} for number in (2, 3)]
    for start, end, expected in ((before, one, [deleted[0], *updated]), (one, two, [deleted[1]])):
        plan = plan_changes(table.state, change_range(table.state, start, end))
        (piece,) = pieces_of(plan)
        (found,) = rows_of(table.state, piece)
        assert found.to_pylist() == table.changes(start, end).to_pylist() == expected
        stored = {f.file_name: f for f in (*plan.before.files, *plan.after.files)}
        assert (piece.files, piece.rows) == (len(stored), sum(f.row_count for f in stored.values()))
        assert {f.row_count for f in plan.before.files} >= {1_000}, "the file stayed"


def test_recorded_rows_that_wait_for_a_compaction_come_once(tmp_path):
    table = keyed_table(tmp_path, INPUT)

    def read(position):
        return [[(row["_row_kind"], row["id"]) for row in changes] for _, changes in batches(planner, position)]

    planner = StreamPlanner(table.state)
    write(table, rows([1, 2]))
    write(table, rows([3]))
    write(table, rows([4, 1], v=7), [PUT, DELETE])
    # The rows of the two last commits cannot be read yet, and come as what is recorded since.
    begun = planner.begin(StreamOptions())
    assert (begun.snapshot, begun.whole) == (1, True)
    altered = table.alter(SetOption("changelog-producer", "lookup"))  # what is recorded is not recorded again
    assert StreamPlanner(altered.state).begin(StreamOptions()) == begun
    merge_unread(table.state)
    assert read(begun) == [[("+I", 1), ("+I", 2)], [("+I", 3), ("-D", 1), ("+I", 4)]]
    begun = planner.begin(StreamOptions())
    assert begun.snapshot == table.latest_snapshot().id
    assert read(begun) == [[("+I", 2), ("+I", 3), ("+I", 4)]]


@pytest.mark.parametrize("producer", ["lookup", "input"])
def test_rows_that_no_commit_recorded_are_not_lost(tmp_path, producer):
    table = keyed_table(tmp_path, {**INPUT, "changelog-producer": "none", "write-only": "true"})
    write(table, rows([1]))
    write(table, rows([2]))
    table = table.alter(SetOption("changelog-producer", producer))
    planner = StreamPlanner(table.state)
    if producer == "input":
        with pytest.raises(ChangesNotFound, match="no compaction has merged yet"):
            planner.begin(StreamOptions())
        merge_unread(table.state)
    begun = planner.begin(StreamOptions())
    merge_unread(table.state)
    write(table, rows([3]))
    merge_unread(table.state)
    read = [row["id"] for _, changes in batches(planner, begun) for row in changes]
    assert read == [1, 2, 3] == sorted(row["id"] for row in table.to_arrow().to_pylist())


@pytest.mark.parametrize("untracked", ["hint", "table", "first of its partition"])
def test_a_stream_does_not_begin_before_changes_that_nobody_recorded(tmp_path, untracked):
    """Though a compaction has merged them: other rows wait that are recorded already."""
    table = partitioned_table(tmp_path, INPUT)
    write(table, rows([0], p="a") + ([] if "first" in untracked else rows([0], p="b")))
    write(table, rows([1], p="a"))
    if untracked == "table":
        other = table.alter(SetOption("change-tracking", "false"))
    else:
        other = table.with_options({"change-tracking": "false"}, "statement")
    write(other, rows([2], p="b"))
    latest = table.latest_snapshot()
    tasks = pick_tasks(stored_buckets(table.state, latest), table.write_target(), table.schemas)
    if tasks := [one for one in tasks if one.partition_path == "p=b"]:
        run_and_commit(table.state, tasks, execute_here)
    if untracked == "table":
        table = other.alter(SetOption("change-tracking", "true"))
    planner = StreamPlanner(table.state)
    with pytest.raises(ChangesNotFound, match="no compaction has merged yet"):
        planner.begin(StreamOptions())
    merge_unread(table.state)
    ((_, changes),) = batches(planner, planner.begin(StreamOptions()))
    assert {one["id"] for one in changes} == {0, 1, 2}


@pytest.mark.parametrize("seed", range(3))
def test_a_new_stream_begins_at_the_newest_snapshot_without_waiting_rows(tmp_path, seed):
    dice = random.Random(seed)
    table = partitioned_table(tmp_path, INPUT)
    whole = write(table, rows([0], p="a")).id
    for _ in range(30):
        latest = table.latest_snapshot()
        if dice.random() < 0.7:
            write(table, rows([dice.randrange(9)], p=dice.choice("ab")), [dice.choice([PUT, PUT, DELETE])])
        elif tasks := pick_tasks(stored_buckets(table.state, latest), table.write_target(), table.schemas):
            run_and_commit(table.state, [dice.choice(tasks)], execute_here)
        if all(e.file.level for e in table.live_files()):
            whole = table.latest_snapshot().id
        assert StreamPlanner(table.state).begin(StreamOptions()).snapshot == whole


@pytest.mark.parametrize("step", ["expired", "overwritten"])
def test_a_stream_cannot_begin_where_all_snapshots_have_rows_that_wait(tmp_path, step):
    table = partitioned_table(tmp_path, INPUT)
    for number in range(3):
        write(table, rows([number, 5], v=number, p="a"), [PUT, DELETE])
    planner = StreamPlanner(table.state)
    assert planner.begin(StreamOptions()) == StreamPosition(0)
    if step == "expired":
        table.io.delete(table.paths.snapshot(1))
    else:
        write(table, rows([1], p="b"), kind="OVERWRITE", replaces=lambda entry: False)
    with pytest.raises(ChangesNotFound, match="no compaction has merged yet") as raised:
        planner.begin(StreamOptions())
    assert "CALL sys.compact(table => 'default.t')" in raised.value.hint
    latest = table.latest_snapshot()
    assert planner.begin(StreamOptions("latest")) == StreamPosition.after(latest)
    shown = merge_unread(table.state)
    assert planner.begin(StreamOptions()).snapshot == shown.id, "the way out that the error names"


def test_limits_count_the_files_of_which_rows_are_marked(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, options={"deletion-vectors.enabled": "true"})
    for start in (0, 10):
        write(table, rows(range(start, start + 10)))
    position = StreamPosition.after(table.latest_snapshot())
    for one in (3, 4, 15):
        prepared_delete(table, [one])()
    for limits in (Limits(files=2), Limits(rows=20)):
        found = batches(StreamPlanner(table.state), position, limits)
        assert [[row["id"] for row in changes] for _, changes in found] == [[3, 4], [15]]
    assert [len(changes) for _, changes in batches(StreamPlanner(table.state), position)] == [3]
