"""Tables with deletion vectors that several write at once: each row becomes what some order of the writes gives."""

from __future__ import annotations

import pytest
from support.tables import DELETE, PUT, by_key, keyed_table, make_table, new_job, rows, values, write

from tablestore_engine.metadata.bucket_hash import bucket_of
from tablestore_engine.operation.compact.auto_compaction import merge_unread

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


def test_a_row_that_is_removed_and_added_while_another_is_first_to_fill_its_bucket(catalog):
    table = keyed_table(catalog, REMOVING)
    first, second = (new_job(table, sequence=number) for number in (1, 1_001))
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
