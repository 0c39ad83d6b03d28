"""Random histories of tables with deletion vectors and `sequence.field`, against a naive fold.

(`test_merge_engines` plays the merge engines with deletion vectors, too.) A late row loses against the one that is
there, wherever that is; a delete is forgotten once it was merged, as in Paimon.
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
    st.tuples(st.just("newest"), st.integers(2, 4)),
    st.tuples(st.just("full"), st.none()),
)


def in_order(row, descending):
    """What decides which row of a key is the greatest: a null is the least."""
    sign = -1 if descending else 1
    return [(row[name] is not None, sign * (row[name] or 0)) for name in ("a", "b")]


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
        past, shown = Past(lambda rows: sorted(rows, key=lambda row: row["id"])), {}
        for verb, what in steps:
            if verb == "write":
                # The first write of an empty bucket is there at once, without its deletes.
                records = dict(shown)
                for batch in what:
                    for row, kind in batch:
                        had = records.get(row["id"])
                        if had is None or in_order(row, descending) >= in_order(had, descending):
                            records[row["id"]] = {**row, "gone": kind == DELETE}
                    write(table, [row for row, _ in batch], [kind for _, kind in batch])
                merge_unread(table.state)
                shown = {n: row for n, row in records.items() if not row.get("gone")}
            elif verb == "newest":
                compact_newest(table, what)
            else:
                compact(table)
            table = reload(table)
            past.check(table, past.shown([{n: row[n] for n in columns} for row in shown.values()]))
        past.check_all(table, Random(repr(steps)))
