"""Deletion vectors of append tables: deletes, compactions and their conflicts, against a list of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.append_deletion_vectors import prepared_delete
from support.soak import examples
from support.tables import compact, make_table, new_job, read, reload, rows, write

from tablestore_engine.errors import ConflictError, OptionError, RowKindError, StorageError
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS
from tablestore_engine.operation.changelog.arrow_changes import marked_rows
from tablestore_engine.operation.changelog.change_plan import ChangeRange, plan_changes
from tablestore_engine.operation.commit.append_deletion_vectors import mark_deleted
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.compact.auto_compaction import run_and_commit
from tablestore_engine.operation.compact.pick_tasks import Extent, pick_tasks
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.expiration.orphan_files import find_orphans
from tablestore_engine.operation.expiration.snapshot_expire import Retention, expire_snapshots
from tablestore_engine.operation.history.rollback import roll_back
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import SetOption

VECTORS = {"deletion-vectors.enabled": "true"}
COLUMNS = {"id": "BIGINT", "p": "STRING", "v": "INT"}
BUCKETED = {**VECTORS, "bucket": "2", "bucket-key": "id"}


def append_table(catalog, options=None, **more):
    return make_table(catalog, COLUMNS, options={**VECTORS, **(options or {})}, **more)


def delete(table, chosen, added=()):
    return prepared_delete(table, chosen, rows(added))()


def ids(table, **kwargs):
    return sorted(row["id"] for row in read(table, **kwargs))


def vectors(table):
    """The number of deleted rows of each file, by its name."""
    found = [
        (one["f0"], one["_CARDINALITY"])
        for entry in table.index_files()
        if entry.index_type == DELETION_VECTORS
        for one in entry.deletion_vectors
    ]
    assert len(dict(found)) == len(found), "two vectors of one file"
    assert dict(found).keys() <= {e.file.file_name for e in table.live_files()}
    return dict(found)


@pytest.mark.parametrize("options", [{}, BUCKETED], ids=["one bucket", "fixed buckets"])
def test_deletes_add_up(catalog, options):
    table = append_table(catalog, options)
    write(table, rows(range(100)))
    write(table, rows(range(100, 200)))
    files = {e.file.file_name for e in table.live_files()}
    delete(table, range(0, 200, 3))
    delete(table, [1, 2, 150], added=[1000])
    kept = sorted({*range(200), 1000} - {*range(0, 200, 3), 1, 2, 150})
    assert ids(table) == kept
    assert files < {e.file.file_name for e in table.live_files()}, "a file was rewritten"
    assert table.statistics().row_count == len(kept)
    assert sum(vectors(table).values()) == 201 - len(kept)
    if options:
        assert len(table.index_files()) == len({e.bucket_id for e in table.index_files()})


def test_a_file_without_rows_is_removed(catalog):
    table = append_table(catalog)
    write(table, rows(range(10)))
    write(table, rows(range(10, 20)))
    delete(table, [3, 12])
    delete(table, [i for i in range(10) if i != 3])
    assert ids(table) == [10, 11, *range(13, 20)]
    assert len(table.live_files()) == len(vectors(table)) == 1
    delete(table, range(20))
    assert (ids(table), table.live_files(), table.index_files()) == ([], [], [])


def test_only_index_files_with_a_vector_that_changes_are_written(catalog):
    table = append_table(catalog)
    for start in (0, 10, 20):
        write(table, rows(range(start, start + 10)))
    delete(table, [1])
    delete(table, [11, 21])
    (first, second) = table.index_files()
    delete(table, [12])
    names = {e.file_name for e in table.index_files()}
    assert first.file_name in names
    assert second.file_name not in names
    assert sorted(vectors(table).values()) == [1, 1, 2]


def test_concurrent_deletes_of_one_file_conflict(catalog):
    table = append_table(catalog)
    write(table, rows(range(10)))
    late = prepared_delete(table, [4])
    delete(table, [3])
    with pytest.raises(ConflictError):
        late()
    delete(table, [4])
    assert ids(table) == [0, 1, 2, 5, 6, 7, 8, 9]
    assert not find_orphans(table.state, 2**62)


def test_a_delete_that_is_sent_twice_at_once_leaves_no_index_file(catalog):
    table = append_table(catalog)
    write(table, rows(range(10)))
    intent = WriteIntent(identity=CommitIdentity("loader", 1, check_duplicate=True))
    first, second = (prepared_delete(table, [3], intent=intent) for _ in range(2))
    assert first() == second()
    assert ids(table) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert not find_orphans(table.state, 2**62)


def test_rows_of_files_that_a_plan_lacks_are_not_left_out(catalog):
    table = append_table(catalog)
    for start in (0, 10):
        write(table, rows(range(start, start + 10)))
    (first, second) = (table.scan(predicate=Compare("id", "=", one)) for one in (5, 15))
    with pytest.raises(AssertionError, match=second.files[0].file_name):
        mark_deleted(new_job(table).target, first, {second.files[0].file_name: np.array([5])})
    both = first.and_files_of(second)
    assert (len(both.files), len(first.and_files_of(first).files)) == (2, 1)
    marked = mark_deleted(new_job(table).target, both, {second.files[0].file_name: np.array([5])})
    assert [one.files for one in marked.vectors.values()] == [{second.files[0].file_name}]


def test_plans_of_other_buckets_join(catalog):
    table = append_table(catalog, partition_keys=["p"])
    write(table, [*rows([1], p="a"), *rows([2], p="b")])
    a, b = (table.scan(predicate=Compare("p", "=", one)) for one in "ab")
    assert sorted(one.partition for one in a.and_files_of(b).buckets) == [("a",), ("b",)]


def test_a_row_level_change_sees_rows_that_were_only_marked(catalog):
    """A statement that adds rows because of a row conflicts when others delete this row without a file that changes."""
    table = append_table(catalog)
    write(table, rows(range(10)))
    write(table, rows(range(10, 20)))
    late = prepared_delete(table, [15], added=rows([100]))
    delete(table, [3])
    with pytest.raises(ConflictError, match="had read"):
        late()


def test_a_compaction_and_a_delete_of_one_file_conflict(catalog):
    table = append_table(catalog)
    for start in (0, 10):
        write(table, rows(range(start, start + 10)))
    delete(table, [1])
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    delete(table, [12])
    with pytest.raises(ConflictError, match="meanwhile"):
        run_and_commit(table.state, tasks, execute_here)
    late = prepared_delete(table, [2])
    assert compact(table)
    assert vectors(table) == {}
    with pytest.raises(ConflictError):
        late()
    assert ids(table) == [i for i in range(20) if i not in (1, 12)]


def test_a_compaction_of_other_buckets_is_committed(catalog):
    table = append_table(catalog, partition_keys=["p"])
    for start in (0, 10):
        write(table, [one for p in range(3) for i in range(10) for one in rows([p * 100 + start + i], p="abc"[p])])
    delete(table, [1, 101, 201])
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    delete(table, [113])
    kept = ids(table)
    assert run_and_commit(table.state, tasks, execute_here).commit_kind == "COMPACT"
    assert {one.partition[0]: len(one.files) for one in table.scan().buckets} == {"a": 1, "b": 2, "c": 1}
    assert (list(vectors(table).values()), ids(table)) == ([1, 1], kept)
    assert not find_orphans(table.state, 2**62)


def many_marked_files(catalog, count, **more):
    """A table of full files, in each of which half the rows are deleted."""
    table = append_table(catalog, {"target-file-size": "1 kb"}, **more)
    for number in range(count):
        write(table, [one for i in range(number * 10, number * 10 + 10) for one in rows([i], p="ab"[i % 2])])
    delete(table, [i for i in range(count * 10) if i % 10 < 5])
    return table


def test_many_files_with_deleted_rows_are_rewritten_in_several_tasks(catalog):
    table = many_marked_files(catalog, 12)
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas)
    assert sorted(f.file_name for one in tasks for f in one.files) == sorted(f.file_name for f in table.scan().files)
    assert len(tasks) > 1
    assert min(sum(f.file_size for f in one.files) for one in tasks) >= 4 * 1024
    travelled = []

    def execute(chosen):
        travelled.extend(name for one in chosen for name in one.deletions)
        return execute_here(chosen)

    assert run_and_commit(table.state, tasks, execute)
    assert len(travelled) == 12, "a task takes the vectors of its own files along"
    assert (vectors(table), ids(table)) == ({}, [i for i in range(120) if i % 10 >= 5])


def test_a_damaged_file_keeps_only_its_bucket_from_being_compacted(catalog):
    """The tasks of a bucket begin with the same vectors, so they are committed together."""
    table = many_marked_files(catalog, 12, partition_keys=["p"])
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas)
    damaged = [one for one in tasks if one.partition_path == "p=a"][-1]
    assert len(tasks) >= 4

    def execute(chosen):
        if damaged.files in [one.files for one in chosen]:
            raise StorageError("f", "damaged")
        return execute_here(chosen)

    with pytest.raises(StorageError):
        run_and_commit(table.state, tasks, execute)
    assert {one.partition[0]: bool(one.deletions) for one in table.scan().buckets} == {"a": True, "b": False}
    assert ids(table) == [i for i in range(120) if i % 10 >= 5]


def test_a_compaction_that_began_before_the_option_was_set_conflicts(catalog):
    table = make_table(catalog, COLUMNS)
    for start in (0, 10):
        write(table, rows(range(start, start + 10)))
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas, Extent.FULL)
    catalog.alter_table(*table.identifier, [SetOption("deletion-vectors.enabled", "true")])
    now = reload(table)
    delete(now, [1])
    with pytest.raises(ConflictError, match="deleted meanwhile"):
        run_and_commit(table.state, tasks, execute_here)
    assert ids(now) == [0, *range(2, 20)]
    with pytest.raises(OptionError, match="cannot be changed on a table that has data"):
        catalog.alter_table(*table.identifier, [SetOption("deletion-vectors.enabled", "false")])


def test_a_file_with_many_deleted_rows_is_due(catalog):
    table = append_table(catalog, {"compaction.delete-ratio-threshold": "0.3"})
    write(table, rows(range(10)))
    delete(table, [1, 2, 3])
    assert compact(table, full=False) is None
    delete(table, [4])
    assert compact(table, full=False).commit_kind == "COMPACT"
    assert vectors(table) == {}
    assert [e.file.row_count for e in table.live_files()] == [6]
    delete(table, [5])
    assert compact(table)
    assert (vectors(table), ids(table)) == ({}, [0, 6, 7, 8, 9])


def test_changes_read_only_rows_that_differ(catalog):
    table = append_table(catalog)
    for start in (0, 10):
        write(table, rows(range(start, start + 10)))
    delete(table, [2, 12])
    before = table.latest_snapshot()
    delete(table, [3], added=[30])
    after = table.latest_snapshot()
    plan = plan_changes(table.state, ChangeRange(before, after))
    assert [f.row_count for f in plan.added.files] == [1]
    assert not plan.removed.files
    assert [rows.column("id").to_pylist() for _, rows in marked_rows(table.state, plan)] == [[3]]
    assert [(one["_row_kind"], one["id"]) for one in changes(table, before, after)] == [("-D", 3), ("+I", 30)]
    roll_back(table.state, before)
    again = [(one["_row_kind"], one["id"]) for one in changes(table, after, table.latest_snapshot())]
    assert again == [("+I", 3), ("-D", 30)]


def changes(table, before, after):
    found = table.changes(before.id, after.id).to_pylist()
    return sorted(found, key=lambda row: row["id"])


def test_past_snapshots_keep_their_vectors(catalog):
    table = append_table(catalog)
    write(table, rows(range(10)))
    first = delete(table, [1])
    delete(table, [2])
    compact(table)
    assert ids(table, snapshot=first) == [0, *range(2, 10)]
    roll_back(table.state, first)
    assert ids(table) == [0, *range(2, 10)]
    assert list(vectors(table).values()) == [1]
    expire_snapshots(table.state, 2**62, Retention(1, 1, 0, 100))
    assert ids(table) == [0, *range(2, 10)]
    assert not find_orphans(table.state, 2**62)


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"merge-engine": "tablestore-count"}, "merge-engine"),
        ({"compaction.schedule.enabled": "true"}, "compaction.schedule.enabled"),
        ({"deletion-vectors.merge-on-read": "true"}, "merge-on-read"),
    ],
)
def test_a_table_with_other_options_is_refused(catalog, options, refused):
    with pytest.raises(OptionError, match=refused):
        append_table(catalog, options)


def test_a_retraction_is_refused(catalog):
    table = append_table(catalog)
    with pytest.raises(RowKindError, match="deletion vectors"):
        write(table, rows([1]), [3])


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(1, 30)),
        st.tuples(st.just("delete"), st.lists(st.integers(0, 120), max_size=25)),
        st.tuples(st.just("update"), st.lists(st.integers(0, 120), max_size=10)),
        st.tuples(st.just("compact"), st.booleans()),
    ),
    min_size=2,
    max_size=7,
)


@settings(max_examples=examples(10), deadline=None)
@given(steps=_STEPS, bucketed=st.booleans(), partitioned=st.booleans())
def test_any_history_gives_the_rows_of_a_list(tmp_path_factory, steps, bucketed, partitioned):
    parts = {"partition_keys": ["p"]} if partitioned else {}
    table = append_table(str(tmp_path_factory.mktemp("vectors")), BUCKETED if bucketed else {}, **parts)
    kept, following = [], 0
    for verb, given_ in steps:
        if verb == "insert":
            new = range(following, following + given_)
            following += given_
            write(table, [one for i in new for one in rows([i], p="ab"[i % 2])])
            kept += new
        elif verb == "compact":
            compact(table, full=given_)
            assert not (given_ and vectors(table))
        else:
            there = set(given_) & set(kept)
            again = [following + i for i, _ in enumerate(sorted(there))] if verb == "update" else []
            following += len(again)
            if there:
                delete(table, there, again)
            kept = [i for i in kept if i not in there] + again
        assert ids(table) == sorted(kept), verb
        assert table.statistics().row_count == len(kept)
        vectors(table)
