"""Random histories of tables with a changelog producer: what it records leads from each state to the next."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.append_deletion_vectors import prepared_delete
from support.histories import EXAMPLES, PROFILE
from support.past import comparable
from support.scratch import scratch_directory
from support.tables import compact, compact_newest, make_table, new_job, read, write, write_routed

from tablestore_engine.operation.changelog.change_plan import plan_changes
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.operation.history.change_range import change_range
from tablestore_engine.operation.stream.pieces import pieces_of, rows_of

ENGINES = {
    "deduplicate": ({}, [0, 2, 3]),
    "sequence": ({"sequence.field": "v"}, [0, 2, 3]),
    "sum": ({"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}, [0, 1, 2]),
    "partial-update": ({"merge-engine": "partial-update"}, [0]),
    "partial-update with deletes": (
        {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
        [0, 0, 3],
    ),
    "sequence group": ({"merge-engine": "partial-update", "fields.v.sequence-group": "w"}, [0]),
    "max": ({"merge-engine": "aggregation", "fields.v.aggregate-function": "max"}, [0]),
    "first-row": ({"merge-engine": "first-row"}, [0]),
}
_ROWS = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {
                "p": st.integers(0, 1),
                "id": st.integers(0, 5),
                "v": st.none() | st.integers(0, 2),
                "w": st.none() | st.sampled_from("xy"),
            }
        ),
        st.integers(0, 9),
    ),
    max_size=6,
)
_STEPS = st.lists(
    st.tuples(st.sampled_from(["write"] * 4 + ["compact", "full", "newest"]), _ROWS), min_size=1, max_size=9
)


FEWER = settings(PROFILE, max_examples=EXAMPLES // 2)
"""For each of many producers and engines."""
ACROSS = "keys across partitions"  # which of two rows is the newer one is then known by their order only
SHAPES = {
    "partitioned": (["p", "id"], ["p"], ["1", "2", "-1"]),
    "one partition": (["id"], [], ["1", "2", "-1"]),
    ACROSS: (["id"], ["p"], ["-1"]),
}


@pytest.mark.parametrize("producer", ["none", "lookup", "full-compaction"])
@pytest.mark.parametrize("engine", ENGINES)
@FEWER
@given(steps=_STEPS, random=st.randoms(use_true_random=False))
def test_changes_lead_from_state_to_state(engine, producer, steps, random):
    options, kinds = ENGINES[engine]
    ordered = "sequence.field" in options
    keys, partitions, buckets = random.choice([one for name, one in SHAPES.items() if not (ordered and name == ACROSS)])
    more = {"changelog-producer": producer, "bucket": random.choice(buckets), "num-sorted-run.compaction-trigger": "2"}
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    with scratch_directory("changelog-") as directory:
        table = make_table(directory, columns, keys, partitions, {**options, **more})
        put = write_routed if table.schema.crosses_partitions else write
        for verb, rows in steps:
            if verb == "write":
                put(table, [row for row, _ in rows], [kinds[kind % len(kinds)] for _, kind in rows])
            elif verb == "newest":
                compact_newest(table, 2)
            else:
                compact(table, full=verb == "full")
        if producer == "full-compaction":
            compact(table)
        if producer != "none":
            _replay(table, each=producer == "lookup")
        _between(table, random, recorded=producer == "lookup")


@PROFILE
@given(
    steps=_STEPS,
    partitioned=st.booleans(),
    bucket=st.sampled_from(["-1", "2"]),
    random=st.randoms(use_true_random=False),
)
def test_changes_of_marked_rows_lead_from_state_to_state(steps, partitioned, bucket, random):
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    options = {"deletion-vectors.enabled": "true", "bucket": bucket, **({"bucket-key": "id"} if bucket == "2" else {})}
    with scratch_directory("changelog-") as directory:
        table = make_table(directory, columns, [], ["p"] if partitioned else [], options)
        for verb, rows in steps:
            if verb == "write":
                deleted = {row["id"] for row, kind in rows if kind < 3}
                prepared_delete(table, deleted, [row for row, kind in rows if kind >= 3])()
            else:
                compact(table, full=verb == "full")
        for _ in range(2):
            _between(table, random, recorded=False)


@FEWER
@given(
    steps=_STEPS,
    engine=st.sampled_from([one for one in ENGINES if one != "first-row"]),
    bucket=st.sampled_from(["1", "2", "-1"]),
    producer=st.sampled_from(["none", "lookup", "lookup"]),
    random=st.randoms(use_true_random=False),
)
def test_changes_of_keys_whose_rows_vectors_delete_lead_from_state_to_state(steps, engine, bucket, producer, random):
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    more, kinds = ENGINES[engine]
    options = {"deletion-vectors.enabled": "true", "bucket": bucket, "changelog-producer": producer, **more}
    with scratch_directory("changelog-") as directory:
        table = make_table(directory, columns, ["id"], [], options)
        for verb, rows in steps:
            if verb == "write":
                write(table, [row for row, _ in rows], [kinds[kind % len(kinds)] for _, kind in rows])
                if len(rows) % 2:
                    continue  # the rows wait for those of the next step
            merge_unread(table.state)
            if verb == "full":
                compact(table)
        if producer == "lookup":
            _replay(table, each=True)
        for _ in range(2):
            _between(table, random, recorded=False)


def _between(table, random, *, recorded):
    """The changes of a random range lead from its first state to its last; each change of the changelog is in it."""
    ids = [0, *(one.id for one in table.snapshots())]
    start, end = sorted(random.choice(ids) for _ in range(2))
    before, after = (comparable(read(table, snapshot=table.snapshot(one)) if one else []) for one in (start, end))
    changes = table.changes(start, end).to_pylist()
    pieces = pieces_of(plan_changes(table.state, change_range(table.state, start, end)))
    apart = [row for one in pieces for rows in rows_of(table.state, one) for row in rows.to_pylist()]
    assert comparable(apart) == comparable(changes), "the pieces together are the changes"
    added, removed = _sides(changes)
    assert before - removed + added == after, f"from {start} to {end}"
    assert not added & removed, "what did not change is among them"
    if recorded:
        steps = table.changes(start, end, recorded=True).to_pylist()
        each = [row for one in range(start, end) for row in table.changes(one, one + 1, recorded=True).to_pylist()]
        assert comparable(steps) == comparable(each)


def _sides(changes):
    """What changes add, and what they take away."""
    added = [row for row in changes if row["_row_kind"] in ("+I", "+U")]
    removed = [row for row in changes if row["_row_kind"] in ("-U", "-D")]
    for row in changes:
        del row["_row_kind"]
    return comparable(added), comparable(removed)


def _replay(table, *, each):
    """Take the changes of each commit from the state before; compare with the state after, in the end or after each."""
    found = comparable([])
    snapshots = table.snapshots()
    for snapshot in snapshots:
        changes = table.changes(snapshot.id - 1, snapshot.id, recorded=True).to_pylist()
        assert len(changes) == snapshot.changelog_record_count
        added, removed = _sides(changes)
        assert not removed - found, f"snapshot {snapshot.id} takes back rows that were not there"
        assert not added & removed, f"snapshot {snapshot.id} records what did not change"
        found = found - removed + added
        if each or snapshot is snapshots[-1]:
            assert found == comparable(read(table, snapshot=snapshot)), f"after snapshot {snapshot.id}"


KINDS = ("+I", "-U", "+U", "-D")


@PROFILE
@given(steps=_STEPS, buckets=st.sampled_from(["1", "2", "-1"]))
def test_the_producer_input_records_the_rows_as_they_came(steps, buckets):
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    options = {"changelog-producer": "input", "bucket": buckets}
    with scratch_directory("changelog-") as directory:
        table = make_table(directory, columns, ["p", "id"], ["p"], options)
        for verb, rows in steps:
            if verb != "write":
                compact(table, full=True)
                continue
            kinds = [kind % 4 for _, kind in rows]
            snapshot = write(table, [row for row, _ in rows], kinds)
            found = table.changes(snapshot.id - 1, snapshot.id, recorded=True).to_pylist()
            came = [{"_row_kind": KINDS[kind], **row} for (row, _), kind in zip(rows, kinds, strict=True)]
            assert comparable(found) == comparable(came)
            assert snapshot.changelog_record_count == len(came)
            of_keys = [(row["p"], row["id"]) for row in found]
            assert all(
                [row for row in found if (row["p"], row["id"]) == key]
                == [row for row in came if (row["p"], row["id"]) == key]
                for key in of_keys
            ), "rows of a key keep their order"
        before = table.latest_snapshot().id if table.latest_snapshot() else 0
        job = new_job(table, into_empty=True)
        snapshot = write(table, [{"p": 0, "id": 9}], kind="OVERWRITE", job=job, replaces=lambda entry: True)
        assert table.changes(before, snapshot.id, recorded=True).num_rows == 0, "an overwrite records no changes"
        assert not snapshot.changelog_manifest_list
        assert not table.remove_orphan_files(2**60, dry_run=True), "and leaves no files"
