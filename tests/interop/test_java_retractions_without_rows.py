"""Retractions of keys that have no row, in tables with sequence groups. Java's answer depends on whether a compaction
dropped them before a row came: then they were nothing, and this is always the answer of this engine."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable, rows_of

from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.types.types import ArrayType, AtomicType

INT = AtomicType("INT")
BEFORE, DELETE = 1, 3
FUNCTIONS = {
    "total": "sum",
    "known": "last_non_null_value",
    "last": "last_value",
    "times": "product",
    "kept": "sum",
    "most": "max",
}
COLUMNS = {"g": INT, "plain": INT, **dict.fromkeys(FUNCTIONS, INT), "all": ArrayType(INT), "free": INT}
OPTIONS = {
    "bucket": "1",
    "write-only": "true",
    "merge-engine": "partial-update",
    "fields.g.sequence-group": ",".join(("plain", *FUNCTIONS, "all")),
    "fields.all.aggregate-function": "collect",
    **{f"fields.{name}.aggregate-function": function for name, function in FUNCTIONS.items()},
    "fields.kept.ignore-retract": "true",
    "fields.most.ignore-retract": "true",
}
REMOVES = {"partial-update.remove-record-on-sequence-group": "g"}
COMPACTORS = ("ours", "theirs")


def row(value):
    """Columns other than the key and the sequence, after one record of a value."""
    return (value,) * 7 + ([value], value)


@pytest.fixture
def make(catalog, name):
    """A table with other keys, so that records of key 1 are not the first of their bucket."""

    def made(more):
        table = OurTable.create(catalog, name, {"id": INT, **COLUMNS}, key=["id"], options=OPTIONS | more)
        for key in (0, 2):
            write(table, 0, 1, 1, key)
        return table

    return made


def write(table, kind, at, value, key=1):
    names = [name for name in COLUMNS if name not in ("g", "all")]
    given = {"id": key, "g": at, "all": value and [value], **dict.fromkeys(names, value)}
    rows = rows_of(table.table.schema, [given])
    table.write(rows.append_column(ROW_KIND_COLUMN, pa.array([kind], pa.int8())))


def ours(table):
    return [tuple(row.values())[1:] for row in table.read().to_pylist() if row["id"] == 1]


def theirs(java, table):
    rows = map(json.loads, java.read(table.table.path)[1].elements())
    return [tuple(row)[1:] for row in rows if row[0] == 1]


def same(java, table):
    assert java.read(table.table.path)[1] == multiset_of(table.read(), table.table.schema)
    return ours(table)


def compact(java, table, who):
    if who == "ours":
        table.compact(full=True)
    else:
        java.ask("compact", table.table.path, "write-only=false")


@pytest.mark.parametrize("more", [{}, REMOVES], ids=["stays", "removes"])
@pytest.mark.parametrize("who", COMPACTORS)
@pytest.mark.parametrize("kind", [BEFORE, DELETE])
def test_a_compaction_drops_them(java, make, kind, who, more):
    table = make(more)
    write(table, kind, 5, 4)
    write(table, kind, 6, 3)
    assert same(java, table) == []
    compact(java, table, who)
    assert same(java, table) == []
    write(table, 0, 2, 7)
    assert same(java, table) == [(2, *row(7))], "the sequences of the retractions are forgotten, too"
    compact(java, table, who)
    assert same(java, table) == [(2, *row(7))]


# What Java makes of a retraction of 5 and a row of 7: the first record of a merge is its first state, also where it is
# then taken back.
TAKEN_BACK = {
    "later": (2, 7, 7, 7, 7, 7, 12, 7, [7], 7),
    "late": (1, None, 7, 7, None, 7, 12, 7, [7], 7),
}
ADDED = {
    "later": (2, 7, 12, 7, 7, 35, 12, 7, [5, 7], 7),
    "late": (1, 5, 12, 5, 5, 35, 12, 7, [5, 7], 7),
}


@pytest.mark.parametrize("who", COMPACTORS)
@pytest.mark.parametrize("order", ["later", "late"])
@pytest.mark.parametrize(
    ("kind", "more", "in_java"),
    [(BEFORE, {}, TAKEN_BACK), (DELETE, {}, TAKEN_BACK), (BEFORE, REMOVES, TAKEN_BACK), (DELETE, REMOVES, ADDED)],
    ids=["before", "delete", "before, removes", "delete, removes"],
)
def test_java_begins_with_one_that_was_not_compacted(java, make, kind, more, in_java, order, who):
    table = make(more)
    at = 2 if order == "later" else 0
    write(table, kind, 1, 5)
    write(table, 0, at, 7)
    assert theirs(java, table) == [in_java[order]]
    assert ours(table) == [(at, *row(7))]
    compact(java, table, who)
    assert same(java, table) == [in_java[order] if who == "theirs" else (at, *row(7))]


@pytest.mark.parametrize("kind", [BEFORE, DELETE])
def test_java_shows_what_is_left_of_it(java, make, kind):
    table = make({})
    write(table, kind, 1, 5)
    write(table, 0, 2, None)
    assert theirs(java, table) == [(2, None, 0, None, None, 1, 5, 5, [], 5)]
    assert ours(table) == [(2, *[None] * 9)]
    table.compact(full=True)
    assert same(java, table) == [(2, *[None] * 9)]


@pytest.mark.parametrize("who", COMPACTORS)
def test_java_takes_back_all_but_the_first(java, make, who):
    table = make({})
    write(table, BEFORE, 1, 5)
    write(table, DELETE, 2, 3)
    write(table, 0, 3, 7)
    in_java = (3, 7, 4, 7, 7, 0, 12, 7, [7], 7)
    assert theirs(java, table) == [in_java]
    assert ours(table) == [(3, *row(7))]
    compact(java, table, who)
    assert same(java, table) == [in_java if who == "theirs" else (3, *row(7))]


@pytest.mark.parametrize("who", COMPACTORS)
def test_after_a_removal_a_row_begins_anew(java, make, who):
    table = make(REMOVES)
    write(table, 0, 4, 2)
    write(table, DELETE, 5, 2)
    assert same(java, table) == []
    compact(java, table, who)
    write(table, BEFORE, 9, 3)
    assert same(java, table) == []
    compact(java, table, who)
    write(table, 0, 3, 7)
    assert same(java, table) == [(3, *row(7))]
    compact(java, table, who)
    assert same(java, table) == [(3, *row(7))]


def test_java_shows_a_removed_row_again_if_more_is_taken_back(java, make):
    table = make(REMOVES)
    write(table, 0, 4, 2)
    write(table, DELETE, 5, 2)
    write(table, BEFORE, 9, 3)
    assert theirs(java, table) == [(9, None, -1, None, None, 0, 2, 2, [2], 2)]
    assert ours(table) == []
    table.compact(full=True)
    assert same(java, table) == []


@pytest.mark.parametrize("who", COMPACTORS)
def test_ignored_deletes_are_nothing(java, make, who):
    table = make({"ignore-delete": "true"})
    write(table, DELETE, 5, 5)
    write(table, 0, 2, 7)
    assert same(java, table) == [(2, *row(7))]
    compact(java, table, who)
    assert same(java, table) == [(2, *row(7))]
