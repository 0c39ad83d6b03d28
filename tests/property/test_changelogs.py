"""Random histories of tables with a changelog producer: what the changelog tells leads from each state to the next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import PROFILE
from support.past import comparable
from support.tables import compact, compact_newest, make_table, new_job, read, scratch_directory, write

ENGINES = {
    "deduplicate": ({}, [0, 2, 3]),
    "sequence": ({"sequence.field": "v"}, [0, 2, 3]),
    "sum": ({"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}, [0, 1, 2]),
    "partial-update": ({"merge-engine": "partial-update"}, [0]),
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


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
@pytest.mark.parametrize("engine", ENGINES)
@PROFILE
@given(steps=_STEPS, buckets=st.sampled_from(["1", "2", "-1"]))
def test_the_changelog_leads_from_state_to_state(engine, producer, steps, buckets):
    options, kinds = ENGINES[engine]
    more = {"changelog-producer": producer, "bucket": buckets, "num-sorted-run.compaction-trigger": "2"}
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    with scratch_directory("changelog-") as directory:
        table = make_table(directory, columns, ["p", "id"], ["p"], {**options, **more})
        for verb, rows in steps:
            if verb == "write":
                write(table, [row for row, _ in rows], [kinds[kind % len(kinds)] for _, kind in rows])
            elif verb == "newest":
                compact_newest(table, 2)
            else:
                compact(table, full=verb == "full")
        if producer == "full-compaction":
            compact(table)
        _replay(table, each=producer == "lookup")


def _replay(table, *, each):
    """Take the changes of each commit from the state before; compare with the state after, in the end or after each."""
    found = comparable([])
    snapshots = table.snapshots()
    for snapshot in snapshots:
        changes = table.changes(snapshot.id - 1, snapshot.id, recorded=True).to_pylist()
        assert len(changes) == snapshot.changelog_record_count
        added = [row for row in changes if row["_row_kind"] in ("+I", "+U")]
        removed = [row for row in changes if row["_row_kind"] in ("-U", "-D")]
        for row in changes:
            del row["_row_kind"]
        assert not comparable(removed) - found, f"snapshot {snapshot.id} takes back rows that were not there"
        assert not comparable(added) & comparable(removed), f"snapshot {snapshot.id} tells what did not change"
        found = found - comparable(removed) + comparable(added)
        if each or snapshot is snapshots[-1]:
            assert found == comparable(read(table, snapshot=snapshot)), f"after snapshot {snapshot.id}"


KINDS = ("+I", "-U", "+U", "-D")


@PROFILE
@given(steps=_STEPS, buckets=st.sampled_from(["1", "2", "-1"]))
def test_the_producer_input_tells_the_rows_as_they_came(steps, buckets):
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
            told = table.changes(snapshot.id - 1, snapshot.id, recorded=True).to_pylist()
            came = [{"_row_kind": KINDS[kind], **row} for (row, _), kind in zip(rows, kinds, strict=True)]
            assert comparable(told) == comparable(came)
            assert snapshot.changelog_record_count == len(came)
            of_keys = [(row["p"], row["id"]) for row in told]
            assert all(
                [row for row in told if (row["p"], row["id"]) == key]
                == [row for row in came if (row["p"], row["id"]) == key]
                for key in of_keys
            ), "rows of a key keep their order"
        before = table.latest_snapshot().id if table.latest_snapshot() else 0
        job = new_job(table, into_empty=True)
        snapshot = write(table, [{"p": 0, "id": 9}], kind="OVERWRITE", job=job, replaces=lambda entry: True)
        assert table.changes(before, snapshot.id, recorded=True).num_rows == 0, "an overwrite tells no changes"
        assert not snapshot.changelog_manifest_list
        assert not table.remove_orphan_files(2**60, dry_run=True), "and leaves no files"
