"""Tables with deletion vectors that several write at once: each row becomes what some order of the writes gives."""

from __future__ import annotations

import pytest
from support.invariants import check_invariants
from support.tables import DELETE, PUT, by_key, keyed_table, make_table, new_job, rows, values, write

from tablestore_engine.metadata.bucket_hash import bucket_of
from tablestore_engine.operation.compact.auto_compaction import merge_unread, run_and_commit
from tablestore_engine.operation.compact.pick_tasks import pick_tasks
from tablestore_engine.operation.compact.scheduled_run import execute_here
from tablestore_engine.operation.scan.plan_scan import stored_buckets

VECTORS = {"deletion-vectors.enabled": "true", "bucket": "1"}
REMOVING = {
    **VECTORS,
    "merge-engine": "aggregation",
    "fields.v.aggregate-function": "sum",
    "aggregation.remove-record-on-delete": "true",
}


def row_anew(number, v):
    """A row is removed, and added again: the rows of one write, and their kinds."""
    return [*rows([number]), *rows([number], v)], [DELETE, PUT]


@pytest.mark.parametrize("numbers", [(1, 1_001), (1_001, 1)], ids=["began later", "began first"])
def test_a_row_that_is_removed_and_added_while_another_is_first_to_fill_its_bucket(catalog, numbers):
    table = keyed_table(catalog, REMOVING)
    first, second = (new_job(table, sequence=number) for number in numbers)
    write(table, rows([1], 10), job=first)
    merge_unread(table.state)
    write(table, *row_anew(1, 5), job=second)
    merge_unread(table.state)
    assert values(table) == {1: 5}


def test_a_row_that_is_removed_and_added_while_another_one_waits(catalog):
    """Both are written to two buckets, of which another one has rows."""
    table = keyed_table(catalog, {**REMOVING, "bucket": "2"})
    write(table, rows([1], 1))
    there = {e.bucket for e in table.live_files()}
    other = next(n for n in range(2, 99) if _bucket_of(table, n) not in there)
    first, second = (new_job(table, sequence=number) for number in (1_000, 2_000))
    write(table, rows([1, other], 10), job=first)
    write(table, [*row_anew(1, 5)[0], *row_anew(other, 5)[0]], [DELETE, PUT] * 2, job=second)
    merge_unread(table.state)
    assert values(table) == {1: 5, other: 5}


def _bucket_of(table, number):
    schema = table.schema
    return bucket_of([number], [f.type for f in schema.bucket_fields], 2)


def test_a_partial_update_that_removes_and_adds_while_another_is_first_to_fill_its_bucket(catalog):
    options = {**VECTORS, "merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}
    table = make_table(catalog, {"id": "INT", "a": "INT", "b": "INT"}, ["id"], options=options)
    first, second = (new_job(table, sequence=number) for number in (1, 1_001))
    write(table, [{"id": 1, "a": 10, "b": 1}], job=first)
    merge_unread(table.state)
    write(table, [{"id": 1}, {"id": 1, "b": 2}], [DELETE, PUT], job=second)
    merge_unread(table.state)
    assert by_key(table) == {1: {"id": 1, "a": None, "b": 2}}


@pytest.mark.parametrize("kinds", [None, [PUT]])
def test_a_first_write_whose_records_were_folded_is_read_at_once(catalog, kinds):
    """Also one of several records of a key, if no kinds say that some of them stay apart."""
    table = keyed_table(catalog, REMOVING)
    write(table, [*rows([1], 2), *rows([1], 3)], kinds and [PUT, PUT])
    assert values(table) == ({1: 5} if kinds is None else {})
    merge_unread(table.state)
    assert values(table) == {1: 5}


def test_rows_that_overwrite_a_table_are_there_at_once(catalog):
    """Nobody reads the table without any rows; whatever others have added goes."""
    table = keyed_table(catalog, REMOVING)
    write(table, rows([1], 10))
    job = new_job(table, into_empty=True)
    write(table, rows([1, 2], 20))
    write(table, *row_anew(1, 5), job=job, kind="OVERWRITE", replaces=lambda entry: True)
    assert (values(table), [e.file.level for e in table.live_files()]) == ({1: 5}, [5])


ORDERED = {
    "partial update": {"merge-engine": "partial-update"},
    "last value": {"merge-engine": "aggregation", "fields.v.aggregate-function": "last_value"},
    "removing": {k: v for k, v in REMOVING.items() if k not in VECTORS},
    "sequence": {"sequence.field": "v"},
    "newest": {},
}


@pytest.mark.parametrize("options", ORDERED.values(), ids=ORDERED)
def test_a_write_that_others_overtook_is_merged_after_them(catalog, options):
    """It does not conflict with writes of other keys, and those of its own keys are older."""
    table = keyed_table(catalog, {**VECTORS, **options})
    write(table, rows(range(4), 1))
    late, base = new_job(table, sequence=1_000), table.latest_snapshot().id
    for number, key in ((2_000, 2), (3_000, 3)):
        write(table, rows([key], 7), job=new_job(table, sequence=number))
        merge_unread(table.state)
    write(table, rows([1, 2], 8), job=late, base_snapshot_id=base)
    merge_unread(table.state)
    added = options.get("fields.v.aggregate-function") == "sum"
    assert values(table) == {0: 1, 1: 9 if added else 8, 2: 16 if added else 8, 3: 8 if added else 7}
    check_invariants(table)


def test_a_compaction_merges_newer_rows_than_those_that_came_meanwhile(catalog):
    table = keyed_table(catalog, {**VECTORS, "merge-engine": "partial-update"})
    write(table, rows(range(4), 1))
    late = new_job(table, sequence=1_000)
    write(table, rows([1, 2], 7), job=new_job(table, sequence=2_000))

    def execute(tasks):
        write(table, rows([2, 3], 8), job=late)
        return execute_here(tasks)

    tasks = pick_tasks(stored_buckets(table.state, table.latest_snapshot()), table.write_target(), table.schemas)
    assert run_and_commit(table.state, tasks, execute) is not None
    assert values(table) == {0: 1, 1: 7, 2: 7, 3: 1}
    merge_unread(table.state)
    assert values(table) == {0: 1, 1: 7, 2: 8, 3: 8}
    check_invariants(table)


@pytest.mark.parametrize("merged", [True, False], ids=["merged first", "both wait"])
def test_of_equal_sequences_the_later_one_stays(catalog, merged):
    """The one that is merged later; of those that are merged together, the one whose write began later."""
    options = {**VECTORS, "sequence.field": "at"}
    table = make_table(catalog, {"id": "INT", "at": "INT", "v": "INT"}, ["id"], options=options)
    write(table, [{"id": 1, "at": 1, "v": 0}])
    late = new_job(table, sequence=1_000)
    write(table, [{"id": 1, "at": 2, "v": 222}], job=new_job(table, sequence=2_000))
    if merged:
        merge_unread(table.state)
    write(table, [{"id": 1, "at": 2, "v": 111}], job=late)
    merge_unread(table.state)
    assert by_key(table) == {1: {"id": 1, "at": 2, "v": 111 if merged else 222}}
