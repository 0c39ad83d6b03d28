"""Tables whose deletion vectors are written here: what is read is what a naive fold of all statements gives."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.soak import examples
from support.tables import (
    DELETE,
    PUT,
    by_key,
    keyed_arrow,
    keyed_table,
    make_table,
    new_job,
    reload,
    rows,
    schema_of,
    values,
    write,
)

from tablestore_engine.errors import ConflictError, OptionError
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.bitmaps.deletion_vector import deleted_positions
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.compact.auto_compaction import merge_unread, run_and_commit
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.expiration.orphan_files import find_orphans
from tablestore_engine.operation.expiration.snapshot_expire import Retention, expire_snapshots
from tablestore_engine.operation.scan.plan_scan import stored_buckets
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type

VECTORS = {"deletion-vectors.enabled": "true", "bucket": "1"}


def compact_fully(table):
    stored = stored_buckets(table.state, table.latest_snapshot())
    tasks = pick_tasks(stored, table.write_target(), table.schemas, Extent.FULL)
    return run_and_commit(table.state, tasks, execute_here) if tasks else None


def vectors(table):
    """The number of deleted rows of each file, by its name."""
    return {
        one["f0"]: one["_CARDINALITY"]
        for entry in table.index_files()
        if entry.index_type == DELETION_VECTORS
        for one in entry.deletion_vectors
    }


def test_an_upsert_marks_the_old_rows(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, *range(100)))
    (first,) = table.live_files()
    assert (first.file.level, table.index_files()) == (5, [])
    shown = table.write(keyed_arrow(2, 3, 50, 200))
    assert (shown.id, shown.commit_kind) == (3, "COMPACT")
    assert values(table) == {**dict.fromkeys(range(100), 1), 3: 2, 50: 2, 200: 2}
    assert vectors(table) == {first.file.file_name: 2}
    assert {e.file.level for e in table.live_files()} == {4, 5}
    assert table.statistics().row_count == 101
    (entry,) = table.index_files()
    data = table.io.read(table.paths.index_file(entry.file_name))
    assert data[:1] == b"\x01"
    assert len(data) == entry.file_size
    assert list(deleted_positions(data[1:])) == [3, 50]


def test_wide_bitmaps(catalog):
    table = keyed_table(catalog, {**VECTORS, "deletion-vectors.bitmap64": "true"})
    table.write(keyed_arrow(1, *range(1000)))
    table.write(keyed_arrow(2, 3, 50))
    (entry,) = table.index_files()
    (one,) = entry.deletion_vectors
    data = table.io.read(table.paths.index_file(entry.file_name))
    assert (one["f1"], one["f2"], len(data)) == (1, entry.file_size - 1, entry.file_size)
    assert data[5:9] == (1_681_511_377).to_bytes(4, "little")
    assert list(deleted_positions(data[1:])) == [3, 50]
    assert values(table) == {**dict.fromkeys(range(1000), 1), 3: 2, 50: 2}


def test_deletes_leave_no_record(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, *range(10)))
    write(table, rows([2, 5, 77]), [DELETE] * 3)
    merge_unread(table.state)
    assert sorted(values(table)) == [0, 1, 3, 4, 6, 7, 8, 9]
    assert [e.file.delete_row_count for e in table.live_files()] == [0]
    assert table.statistics().row_count == 8


def test_a_first_write_with_deletes_waits_for_its_compaction(catalog):
    table = keyed_table(catalog, VECTORS)
    write(table, rows([1, 2]), [PUT, DELETE])
    assert [e.file.level for e in table.live_files()] == [0]
    assert values(table) == {}
    merge_unread(table.state)
    assert values(table) == {1: 0}


def test_a_full_compaction_removes_deleted_rows_and_their_vectors(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(0, *range(1000)))
    for value in range(3):
        table.write(keyed_arrow(value, value * 10, value * 10 + 1))
    before = values(table)
    assert vectors(table)
    compact_fully(table)
    assert values(table) == before
    assert (table.index_files(), len(table.live_files())) == ([], 1)
    write(table, rows(range(5)), [DELETE] * 5)
    merge_unread(table.state)
    assert vectors(table)
    compact_fully(table)  # one file at the top level, with deleted rows
    assert (vectors(table), len(values(table))) == ({}, 995)
    assert compact_fully(table) is None


TEXT = parse_type("STRING")
BATCH = st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=12, unique_by=lambda one: one[0])
STEP = st.one_of(
    st.tuples(st.just("write"), BATCH),
    st.tuples(st.just("leave"), BATCH),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("rollback"), st.integers(0, 30)),
)


@settings(max_examples=examples(15), deadline=None)
@example(
    steps=[*(("leave", [(n, True)]) for n in (0, 2, 4)), ("rollback", 1), ("write", [(6, True)])],
    dynamic=False,
    orc=False,
)
@example(steps=[("write", [(0, False)]), ("leave", [(0, False)]), ("leave", [(1, True)])], dynamic=False, orc=False)
@given(steps=st.lists(STEP, min_size=1, max_size=14), dynamic=st.booleans(), orc=st.booleans())
def test_reads_equal_a_naive_fold(tmp_path_factory, steps, dynamic, orc):
    options = {
        **VECTORS,
        "bucket": "-1" if dynamic else "1",
        "file.format": "orc" if orc else "parquet",
        "num-sorted-run.compaction-trigger": "3",
        "snapshot.num-retained.min": "100",
        "snapshot.num-retained.max": "100",
    }
    table = make_table(
        str(tmp_path_factory.mktemp("vectors")),
        {"p": "STRING", "id": "INT", "v": "INT"},
        ["p", "id"],
        ["p"],
        options,
    )
    shown, waiting, states = {}, {}, {}
    for number, (what, given_rows) in enumerate(steps):
        if what in ("write", "leave"):
            given = [{"p": f"p{i % 2}", "id": i, "v": number} for i, _ in given_rows]
            write(table, given, [PUT if put else DELETE for _, put in given_rows])
            waiting = waiting | {i: number if put else None for i, put in given_rows}
        if what == "rollback":
            chosen = sorted(states)[given_rows % len(states)] if states else None
            if chosen is None or table.roll_back(chosen) is None:
                continue
            shown, waiting = states[chosen]
        elif what == "write":
            merge_unread(table.state)
        elif what == "compact":
            compact_fully(table)
        if what in ("write", "compact"):
            shown, waiting = {k: v for k, v in (shown | waiting).items() if v is not None}, {}
        # Each partition has one bucket; where that was empty, the rows of a write are shown at once.
        hidden = {decode_row(e.partition, [TEXT])[0] for e in table.live_files() if e.file.level == 0}
        settled = {k: v for k, v in waiting.items() if f"p{k % 2}" not in hidden}
        shown = {k: v for k, v in (shown | settled).items() if v is not None}
        waiting = {k: v for k, v in waiting.items() if k not in settled}
        assert values(table) == shown
        if table.latest_snapshot() is not None:
            states[table.latest_snapshot().id] = shown, waiting
    for snapshot_id, (state, _) in states.items():
        assert values(table, snapshot=table.snapshot_store.load(snapshot_id)) == state


def test_rows_of_a_write_only_table_are_read_after_a_compaction(catalog):
    table = keyed_table(catalog, {**VECTORS, "write-only": "true", "changelog-producer": "lookup"})
    table.write(keyed_arrow(1, *range(5)))
    assert values(table) == dict.fromkeys(range(5), 1)  # nothing was there to merge with
    table.write(keyed_arrow(2, 1, 7))
    table.write(keyed_arrow(3, 2))
    table.write(keyed_arrow(0)[:0])
    assert values(table) == dict.fromkeys(range(5), 1)
    assert [e.file.level for e in table.live_files()].count(0) == 2
    before = table.latest_snapshot()
    assert before.changelog_record_count == 0
    compact_fully(table)
    assert values(table) == {**dict.fromkeys(range(5), 1), 1: 2, 2: 3, 7: 2}
    assert table.latest_snapshot().changelog_record_count == 5


def test_rows_that_a_killed_write_left_are_merged_by_the_next_one(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, *range(5)))
    write(table, rows([1], 7))
    assert values(table)[1] == 1
    read_at = table.latest_snapshot().id
    with pytest.raises(ConflictError, match="no compaction has merged yet"):
        publish_change(table.state, Change("APPEND", read_snapshot=read_at))
    table.write(keyed_arrow(8, 2))
    assert values(table) == {0: 1, 1: 7, 2: 8, 3: 1, 4: 1}


@pytest.mark.parametrize("between", ["compaction", "write"])
def test_a_compaction_that_others_overtook_begins_again(catalog, between):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, *range(20)))
    write(table, rows([1, 2], 5))
    overtaken = []

    def execute(tasks):
        if not overtaken:
            overtaken.append(True)
            if between == "compaction":
                compact_fully(table)
                write(table, rows([3], 6))
            else:
                table.write(keyed_arrow(6, 3))
        return execute_here(tasks)

    merge_unread(table.state, execute)
    assert values(table) == {**dict.fromkeys(range(20), 1), 1: 5, 2: 5, 3: 6}
    assert sum(vectors(table).values()) + 20 == sum(e.file.row_count for e in table.live_files())
    assert not find_orphans(table.state, 1 << 60)  # nothing of the lost attempt is left


def test_a_fold_that_others_overtook_counts_each_row_once(catalog):
    sums = {**VECTORS, "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = keyed_table(catalog, sums)
    table.write(keyed_arrow(1, *range(20)))
    late = new_job(table)
    write(table, rows([1, 2], 5))
    overtaken = []

    def execute(tasks):
        if not overtaken:
            overtaken.append(True)
            write(table, rows([2, 3], 7))
            merge_unread(table.state)
        return execute_here(tasks)

    merge_unread(table.state, execute)
    assert values(table) == {**dict.fromkeys(range(20), 1), 1: 6, 2: 13, 3: 8}
    write(table, rows([2], 100), job=late)  # it began before the others
    merge_unread(table.state)
    assert values(table) == {**dict.fromkeys(range(20), 1), 1: 6, 2: 113, 3: 8}
    assert not find_orphans(table.state, 1 << 60)
    compact_fully(table)
    assert values(table) == {**dict.fromkeys(range(20), 1), 1: 6, 2: 113, 3: 8}


def test_a_first_row_that_overlaps_no_merged_one_is_folded_with_that_of_its_level(catalog):
    """A file of level 0 that is alone in its section goes up as it is only where no old row may count."""
    table = keyed_table(catalog, {**VECTORS, "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"})
    table.write(keyed_arrow(1, *range(2_000)))
    for _ in range(2):
        (alone,) = (write(table, rows([5, 3_000], 2)), merge_unread(table.state))[1:]
        assert alone.commit_kind == "COMPACT"
    found = values(table)
    assert (found[5], found[3_000], len(found)) == (5, 4, 2_001)
    assert sum(vectors(table).values()) + 2_001 == sum(e.file.row_count for e in table.live_files())


def test_two_writers_at_once_both_stay(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, *range(20)))
    other, base = reload(table), table.latest_snapshot().id
    write(table, rows(range(10), 2), [DELETE] * 10, base_snapshot_id=base)
    merge_unread(table.state)
    write(other, rows(range(5, 15), 3), base_snapshot_id=base)  # merged later, so newer
    merge_unread(other.state)
    assert values(table) == {**dict.fromkeys(range(5, 15), 3), **dict.fromkeys(range(15, 20), 1)}


def test_a_load_that_others_overtook_leaves_one_row_of_each_key(catalog):
    table = keyed_table(catalog, VECTORS)
    load = new_job(table)
    table.write(keyed_arrow(1, *range(20)))
    table.write(keyed_arrow(2, 50))
    assert {e.file.level for e in table.live_files()} == {4, 5}
    write(table, rows([50], 3), job=load)
    merge_unread(table.state)
    assert sorted(values(table)) == [*range(20), 50]


def test_old_index_files_expire_with_their_snapshots(catalog):
    table = keyed_table(catalog, {**VECTORS, "snapshot.num-retained.min": "50"})
    table.write(keyed_arrow(0, *range(20_000)))
    for value in range(3):
        table.write(keyed_arrow(3, value))
    names = {s.name for s in table.io.list(table.paths.index_dir)}
    assert len(names) == 3
    expire_snapshots(table.state, 1 << 60, Retention(1, 1, 0, 100))
    assert {s.name for s in table.io.list(table.paths.index_dir)} == {e.file_name for e in table.index_files()}
    assert values(table) == {**dict.fromkeys(range(20_000), 0), 0: 3, 1: 3, 2: 3}


def test_an_overwrite_leaves_no_vectors(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, 1, 2, 3))
    table.write(keyed_arrow(2, 2))
    write(table, rows([9]), kind="OVERWRITE", replaces=lambda entry: True, job=new_job(table, into_empty=True))
    assert (values(table), table.index_files()) == ({9: 0}, [])


def test_changes_are_those_of_the_rows(catalog):
    table = keyed_table(catalog, VECTORS)
    first = table.write(keyed_arrow(1, 1, 2, 3))
    table.write(keyed_arrow(2, 2, 4))
    found = [tuple(row.values()) for row in table.changes(first.id).sort_by("id").to_pylist()]
    assert {(kind, key, value) for kind, key, value in found} == {("-U", 2, 1), ("+U", 2, 2), ("+I", 4, 2)}


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({"merge-engine": "tablestore-count"}, []),
        ({"merge-engine": "first-row"}, ["id"]),
        ({"changelog-producer": "full-compaction"}, ["id"]),
        ({"compaction.schedule.enabled": "true"}, ["id"]),
        ({"deletion-vectors.merge-on-read": "true"}, ["id"]),
    ],
    ids=str,
)
def test_other_tables_are_refused(options, keys):
    with pytest.raises(OptionError, match="deletion-vectors"):
        schema_of({"id": "INT", "v": "INT"}, keys, options={"deletion-vectors.enabled": "true", **options})


def test_keys_across_partitions_are_refused():
    with pytest.raises(OptionError, match="leaves a partition column out"):
        schema_of({"p": "INT", "id": "INT", "v": "INT"}, ["id"], ["p"], {"deletion-vectors.enabled": "true"})


def test_no_compaction_is_scheduled(catalog):
    table = keyed_table(catalog, VECTORS)
    with pytest.raises(OptionError, match="deletion vectors"):
        schedule(table.state, "full", 0)


@pytest.mark.parametrize("kind", ["DOUBLE", "STRING", "DECIMAL(24, 3)", "TIMESTAMP(6)"])
def test_keys_of_any_type(catalog, kind):
    table = make_table(catalog, {"a": kind, "b": "INT", "v": "INT"}, ["a", "b"], options=VECTORS)
    arrow = table.to_arrow().schema.field("a").type
    given = ["nan", "-0.0", "1.5"] if kind == "DOUBLE" else ["1", "2", "3"]
    number = pa.float64() if kind == "DOUBLE" else pa.int64()
    column = pa.array(given).cast(number).cast(arrow)
    for value in range(3):
        write_arrow(
            table.state,
            pa.table({"a": column, "b": pa.array([1, 1, 1], pa.int32()), "v": pa.array([value] * 3, pa.int32())}),
        )
    assert table.to_arrow("v").column("v").to_pylist() == [2, 2, 2]


def test_new_columns_and_an_older_file(catalog):
    table = keyed_table(catalog, VECTORS)
    table.write(keyed_arrow(1, 1, 2))
    table = table.alter(AddColumn("w", parse_type("INT")))
    write(table, [{"id": 2, "v": 5, "w": 6}])
    merge_unread(table.state)
    assert by_key(table) == {1: {"id": 1, "v": 1, "w": None}, 2: {"id": 2, "v": 5, "w": 6}}
