"""Random histories of tables with deletion vectors and `sequence.field`, against a naive fold.

(`test_merge_engines` plays the merge engines with deletion vectors, too.) A late row loses against the one that is
there, wherever that is; a delete is forgotten once it was merged, as in Paimon. What was left to a compaction is so
again after a rollback.
"""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from support.histories import THOROUGH
from support.past import Past
from support.scratch import scratch_directory
from support.tables import DELETE, PUT, compact, compact_newest, make_table, reload, write

from tablestore_engine.operation.compact.auto_compaction import merge_unread

ROW = st.fixed_dictionaries(
    {"id": st.integers(0, 8), "a": st.none() | st.integers(0, 3), "b": st.integers(0, 1), "v": st.integers(0, 99)}
)
BATCH = st.lists(st.tuples(ROW, st.sampled_from([PUT, PUT, PUT, DELETE])), min_size=1, max_size=8)
STEP = st.one_of(
    st.tuples(st.just("write"), st.lists(BATCH, min_size=1, max_size=3)),
    st.tuples(st.just("leave"), BATCH),
    st.tuples(st.just("rollback"), st.integers(0, 9)),
    st.tuples(st.just("newest"), st.integers(2, 4)),
    st.tuples(st.just("full"), st.none()),
)


def in_order(row, descending):
    """What decides which row of a key is the greatest: a null is the least."""
    sign = -1 if descending else 1
    return [(row[name] is not None, sign * (row[name] or 0)) for name in ("a", "b")]


def merged(shown, batches, descending):
    """What rows become when batches of records are merged with them at once."""
    records = {n: (row, PUT) for n, row in shown.items()}
    for batch in batches:
        for row, kind in batch:
            had = records.get(row["id"])
            if had is None or in_order(row, descending) >= in_order(had[0], descending):
                records[row["id"]] = row, kind
    return {n: row for n, (row, kind) in records.items() if kind == PUT}


def unread(table):
    return {e.file.file_name for e in table.live_files() if e.file.level == 0}


@THOROUGH
@given(
    steps=st.lists(STEP, min_size=1, max_size=10),
    descending=st.booleans(),
    file_format=st.sampled_from(["parquet", "parquet", "orc", "avro"]),
    trigger=st.integers(2, 5),
    size=st.sampled_from(["1 b", "128 mb"]),
    buckets=st.sampled_from(["1", "2", "-1"]),
)
def test_the_greatest_row_wins(steps, descending, file_format, trigger, size, buckets):
    options = {
        "deletion-vectors.enabled": "true",
        "bucket": buckets,
        "sequence.field": "a,b",
        "sequence.field.sort-order": "descending" if descending else "ascending",
        "file.format": file_format,
        "num-sorted-run.compaction-trigger": str(trigger),
        "target-file-size": size,
    }
    columns = {"id": "INT", "a": "INT", "b": "INT", "v": "INT"}
    with scratch_directory("vectors-") as directory:
        table = make_table(directory, columns, ["id"], options=options)
        past, shown, waiting = Past(lambda rows: sorted(rows, key=lambda row: row["id"])), {}, []
        states = {}

        def written(batch):
            """The rows of a write are there at once, or wait to be merged."""
            nonlocal shown, waiting
            before = unread(table)
            write(table, [row for row, _ in batch], [kind for _, kind in batch])
            if unread(table) == before:
                shown = merged(shown, [batch], descending)
            else:
                waiting = [*waiting, batch]

        for verb, what in steps:
            if verb == "rollback":
                chosen = sorted(states)[what % len(states)] if states else None
                if chosen is not None and table.roll_back(chosen) is not None:
                    shown, waiting = states[chosen]
            elif verb in ("write", "leave"):
                for batch in what if verb == "write" else [what]:
                    written(batch)
            elif verb == "newest":
                compact_newest(table, what)
            else:
                compact(table)
            if verb not in ("leave", "rollback"):
                merge_unread(table.state)
                shown, waiting = merged(shown, waiting, descending), []
            table = reload(table)
            past.check(table, past.shown([*shown.values()]))
            if table.latest_snapshot() is not None:
                states[table.latest_snapshot().id] = shown, waiting
        past.check_all(table, Random(repr(steps)))
