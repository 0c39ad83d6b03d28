"""Which commits still fit the table: a table of cases. Files are written `L<level>:<low>-<high>`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.files import add, meta, remove
from support.tables import schema_of

from tablestore_engine.errors import ConflictError
from tablestore_engine.operation.commit.conflicts import NewFiles, check_conflicts, dropped_deletes

KEYED = schema_of({"id": "BIGINT"}, ["id"])
APPEND = schema_of({"id": "BIGINT"})


def entries(text, prefix, **kwargs):
    found = []
    for number, word in enumerate(text.split()):
        level, interval = word.removeprefix("L").split(":")
        low, high = interval.split("-")
        found.append(add(meta(f"{prefix}{number}", level=int(level), low=int(low), high=int(high)), **kwargs))
    return tuple(found)


def levels(result):
    return [e.file.level for e in result]


@pytest.mark.parametrize(
    ("live", "added", "kind", "expected"),
    [
        ("", "L0:1-9", "APPEND", [0]),
        ("", "L5:1-9 L5:10-19", "APPEND", [5, 5]),
        ("L0:1-9 L5:1-9", "L0:1-9", "APPEND", [0]),
        # A bulk load finds its bucket no longer empty.
        ("L5:10-19", "L5:1-9", "APPEND", [5]),
        ("L5:1-9", "L5:5-6", "APPEND", [0]),
        ("L5:1-9", "L5:9-12", "APPEND", [0]),
        ("L5:1-9", "L5:5-6 L5:20-29", "APPEND", [0, 0]),  # a bucket's load stays on one level
        ("L4:1-9", "L5:5-6", "APPEND", [5]),
        ("L5:1-9", "L4:5-6", "COMPACT", [4]),
        ("L5:1-9", "L5:5-6", "COMPACT", None),
        ("L5:1-9", "L5:10-12", "COMPACT", [5]),
    ],
)
def test_overlap_at_one_level(live, added, kind, expected):
    new = NewFiles(entries(added, "new"), (), kind)
    if expected is None:
        with pytest.raises(ConflictError):
            check_conflicts(KEYED, entries(live, "old"), new)
    else:
        assert levels(check_conflicts(KEYED, entries(live, "old"), new)) == expected


VECTORS = schema_of({"id": "BIGINT"}, ["id"], options={"deletion-vectors.enabled": "true"})


@pytest.mark.parametrize(
    ("live", "kind", "expected"),
    [
        ("L4:1-9", "APPEND", [0, 0]),
        ("L5:1-9", "APPEND", [0, 0]),
        ("L4:10-19", "APPEND", [5, 5]),
        ("L0:1-9", "APPEND", [5, 5]),  # the compaction that merges it looks its keys up
        ("L4:1-9", "COMPACT", [5, 5]),
    ],
)
def test_a_load_of_a_table_with_deletion_vectors_overlaps_at_other_levels(live, kind, expected):
    new = NewFiles(entries("L5:5-6 L5:20-29", "new"), (), kind)
    assert levels(check_conflicts(VECTORS, entries(live, "old"), new)) == expected


def test_files_that_leave_do_not_overlap():
    live = entries("L5:1-9 L0:3-4", "old")
    new = NewFiles(entries("L5:1-9", "new"), tuple(remove(e) for e in live), "COMPACT")
    assert levels(check_conflicts(KEYED, live, new)) == [5]


def test_other_buckets_and_partitions_do_not_overlap():
    live = [*entries("L5:1-9", "a", bucket=1, total=2), *entries("L5:1-9", "b", partition=b"p", total=2)]
    assert levels(check_conflicts(KEYED, live, NewFiles(entries("L5:1-9", "n", total=2), (), "COMPACT"))) == [5]


@pytest.mark.parametrize("schema", [KEYED, APPEND])
def test_a_file_to_remove_must_be_live(schema):
    (file,) = entries("L0:1-9", "old")
    with pytest.raises(ConflictError, match="old0 is no longer part"):
        check_conflicts(schema, [], NewFiles((), (remove(file),), "OVERWRITE"))


def test_an_upgraded_file_is_another_one():
    (low,), (high,) = entries("L0:1-9", "old"), entries("L5:1-9", "old")
    with pytest.raises(ConflictError):
        check_conflicts(KEYED, [high], NewFiles((), (remove(low),), "COMPACT"))


def test_bucket_count_of_a_partition_that_keeps_files():
    live = entries("L0:1-9", "old", total=2)
    new = entries("L0:1-9", "new", total=4)
    with pytest.raises(ConflictError, match="2 buckets"):
        check_conflicts(KEYED, live, NewFiles(new, (), "APPEND"))
    assert check_conflicts(KEYED, live, NewFiles(new, tuple(map(remove, live)), "OVERWRITE")) == new
    other = entries("L0:1-9", "new", total=4, partition=b"q")
    assert check_conflicts(KEYED, live, NewFiles(other, (), "APPEND")) == other


def test_appends_without_a_key_always_fit():
    live = entries("L0:1-9", "old")
    new = entries("L0:1-9", "new")
    assert check_conflicts(APPEND, live, NewFiles(new, (), "APPEND")) == new


LATE = schema_of({"id": "BIGINT", "at": "INT"}, ["id"], options={"sequence.field": "at"})


@pytest.mark.parametrize(("sequence", "fits"), [(100, False), (102, True)])
def test_records_that_are_older_than_deletes_which_were_dropped(sequence, fits):
    delete = add(meta("delete", sequence=101, deletes=1))
    live = [delete, add(meta("late", sequence=sequence))]
    new = NewFiles((), (remove(delete),), "COMPACT")
    assert check_conflicts(LATE, live, new) == (), "deletes outlive compactions there"
    if fits:
        assert check_conflicts(KEYED, live, new) == ()
    else:
        with pytest.raises(ConflictError, match="older than deletes"):
            check_conflicts(KEYED, live, new)


@pytest.mark.parametrize(("left", "output", "fits"), [(4, 3, True), (3, 3, False), (0, 3, False), (0, 4, False)])
def test_deletes_that_newer_records_replaced_conflict_with_nothing_above(left, output, fits):
    """A file above the output was there before: the compaction kept its deletes, and a put replaced them."""
    delete, put = add(meta("delete", sequence=101, deletes=1)), add(meta("put", sequence=102))
    live = [delete, put, add(meta("old", sequence=1, level=left, low=0, high=0))]
    written = add(meta("new", sequence=102, level=output, low=0 if fits else 1, high=0 if fits else 1))
    new = NewFiles((written,), (remove(delete), remove(put)), "COMPACT")
    if fits:
        assert check_conflicts(KEYED, live, new) == (written,)
    else:
        with pytest.raises(ConflictError, match="older than deletes"):
            check_conflicts(KEYED, live, new)


@pytest.mark.parametrize(
    ("removed", "added", "expected"),
    [
        ([("a", 7, 1)], [], {0: 7}),
        ([("a", 7, 1), ("b", 9, 0)], [("c", 9, 0)], {0: 7}),
        ([("a", 7, 1), ("b", 9, 2)], [("c", 9, 1)], {}),
        ([("a", 7, 0)], [("c", 7, 0)], {}),
        # Another writer may leave it out.
        ([("a", 7, None)], [("c", 7, None)], {0: 7}),
    ],
    ids=["all", "a file without any", "kept", "none", "unknown"],
)
def test_deletes_that_a_compaction_may_have_dropped(removed, added, expected):
    """Files are (name, sequence number, deletes)."""

    def files(given):
        return tuple(add(meta(name, sequence=number, deletes=deletes)) for name, number, deletes in given)

    found = dropped_deletes(NewFiles(files(added), tuple(map(remove, files(removed))), "COMPACT"))
    assert {bucket: number for (_, bucket), number in found.items()} == expected


TAKING_BACK = schema_of({"id": "BIGINT", "v": "STRING"}, ["id"], options={"merge-engine": "aggregation"})
TAKING_BACK_ALONE = replace(TAKING_BACK, options={**TAKING_BACK.options, "deletion-vectors.enabled": "true"})
ROUNDING = schema_of(
    {"id": "BIGINT", "v": "DECIMAL(9, 2)"},
    ["id"],
    options={
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "product",
        "fields.v.ignore-retract": "true",
    },
)


def numbered(level, sequence, name):
    return add(meta(name, level=level, low=1, high=9, sequence=sequence))


@pytest.mark.parametrize(
    ("live", "added", "kind", "fits"),
    [
        # (level, sequence numbers)
        ([(5, (1, 4)), (0, 7)], (0, 5), "APPEND", True),
        ([(5, (1, 4))], (0, 4), "APPEND", False),
        ([(0, 7)], (4, (5, 6)), "COMPACT", True),
        ([(0, 5)], (4, (3, 6)), "COMPACT", False),
        # A bulk load whose bucket was empty when it began.
        ([(5, (1, 4))], (5, 7), "APPEND", False),
        ([(0, 6)], (5, 7), "APPEND", False),
        ([(0, 8)], (5, 7), "APPEND", True),
    ],
)
def test_records_that_fold_in_order_meet_in_order(live, added, kind, fits):
    before = [numbered(level, sequence, f"old{i}") for i, (level, sequence) in enumerate(live)]
    new = NewFiles((numbered(*added, "new"),), (), kind)
    assert len(check_conflicts(KEYED, before, new)) == 1
    assert len(check_conflicts(TAKING_BACK_ALONE, before, new)) == 1, "what is merged later is newer"
    for schema in (TAKING_BACK, ROUNDING):
        if fits:
            assert check_conflicts(schema, before, new) == new.added
        else:
            with pytest.raises(ConflictError):
                check_conflicts(schema, before, new)
