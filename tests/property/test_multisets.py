"""Random changes of tables without a key against a multiset.

A history adds rows and takes rows away, in any cuts and through small write buffers; between writes, and while one is
under way, files merge: as the thresholds ask, fully, or any set of files of a bucket. After each step the table, its
number of rows and its older snapshots equal a `Counter` that did the same. `make soak` plays thousands.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from support.histories import THOROUGH
from support.multiset_histories import as_multiset, changes_of, compact_some, tables, write
from support.past import Past
from support.scratch import scratch_directory
from support.tables import arrow_rows, compact, make_table, read

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import NegativeCountError
from tablestore_engine.mergetree.multiset import retractions
from tablestore_engine.schema.table.row_kind import ROW_KIND


@st.composite
def histories(draw):
    columns, partition, options = draw(tables())
    row = st.fixed_dictionaries({name: st.none() | values for name, (values, _) in columns.items()})
    # How often a row is added, or how many of those that are there are taken away.
    change = st.tuples(st.just("add"), row, st.integers(1, 3)) | st.tuples(
        st.just("take"), st.none(), st.integers(1, 3)
    )
    writing = st.tuples(st.sampled_from(["write", "around"]), st.lists(change, min_size=1, max_size=6))
    step = writing | st.sampled_from([("some", None), ("some", None), ("due", None), ("full", None)])
    table = {name: kind for name, (_, kind) in columns.items()}, partition, options
    return table, draw(st.lists(step, min_size=1, max_size=10)), draw(st.randoms(use_true_random=True))


def write_around(table, rows, between):
    """Write rows as batches, through the write buffer, and do something else when half of them is under way."""
    given = arrow_rows(table.schema, [row for _, row in rows])
    given = given.append_column(ROW_KIND, pa.array([kind for kind, _ in rows], pa.string()))
    half = (len(rows) + 1) // 2

    def batches():
        yield from given.slice(0, half).to_batches(max_chunksize=2)
        between()
        yield from given.slice(half).to_batches(max_chunksize=2)

    table.write(batches())


@THOROUGH
@given(histories())
def test_a_table_is_a_multiset(history):
    (columns, partition, options), steps, random = history
    there, past = [], Past(as_multiset)
    in_parts = mock.patch.object(retractions, "PART_ROWS", random.choice([1, 500_000]))
    with scratch_directory("multiset-") as directory, in_parts:
        make_table(directory, columns, [], partition, options)
        for number, (verb, changes) in enumerate(steps):
            table = Catalog(directory).load_table("default", "t")
            if verb in ("write", "around"):
                rows = changes_of(changes, there, random)
                note(f"{number}: {rows}")
                if rows and verb == "write":
                    write(table, rows)
                elif rows:
                    write_around(table, rows, partial(compact_some, table, random))
            elif verb == "some":
                compact_some(table, random)
            else:
                compact(table, full=verb == "full")
            note(f"{number}: {verb}, {len(there)} rows")
            table = Catalog(directory).load_table("default", "t")
            past.check(table, as_multiset(there))
            if verb == "full":
                assert not any(e.file.delete_row_count for e in table.live_files())
        past.check_all(table, random)
        assert table.schema.merge_engine.rules.is_multiset == any(
            e.file.delete_row_count for s in table.snapshots() for e in table.live_files(s)
        )


@THOROUGH
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("+-")), min_size=1, max_size=4), max_size=5),
    st.randoms(use_true_random=True),
)
def test_missing_rows_are_found_and_may_still_come(batches, random):
    """Totals below zero are errors that name a row and change nothing; adding what is missing heals the table."""
    totals = Counter()
    with scratch_directory("multiset-") as directory:
        make_table(directory, {"v": "INT"})
        for given_changes in [*batches, None]:
            batch = given_changes
            table = Catalog(directory).load_table("default", "t")
            if batch is None:  # what is missing comes at last
                batch = [(v, "+") for v, n in totals.items() for _ in range(max(-n, 0))]
            if batch:
                write(table, [("+I" if sign == "+" else "-D", {"v": v}) for v, sign in batch])
            for v, sign in batch:
                totals[v] += 1 if sign == "+" else -1
            table = Catalog(directory).load_table("default", "t")
            if random.random() < 0.5:
                compact(table, full=False)
            missing = [v for v, n in totals.items() if n < 0]
            if missing:
                for act in (read, compact):
                    with pytest.raises(NegativeCountError, match=r"more often.*total -\d+.*'v': ") as raised:
                        act(table)
                    assert any(f"(total {totals[v]}): {{'v': {v}}}" in str(raised.value) for v in missing)
            else:
                assert as_multiset(read(table)) == as_multiset([{"v": v} for v, n in totals.items() for _ in range(n)])


def joined(orders, customers):
    """Orders, each with the customers of its item, or with none."""
    return [{"item": i, "who": customer} for i in orders for customer in (customers.get(i) or [None])]


EVENTS = st.tuples(st.sampled_from(["order", "cancel", "come", "go"]), st.sampled_from("ab"), st.sampled_from("xy"))


@THOROUGH
@given(st.lists(st.lists(EVENTS, min_size=1, max_size=4), min_size=1, max_size=6), st.randoms(use_true_random=True))
def test_the_changelog_of_a_left_join(batches, random):
    """What a left join takes back and adds, event by event, gives the join of what there is at last."""
    orders, customers = [], {}
    with scratch_directory("multiset-") as directory:
        make_table(directory, {"item": "STRING", "who": "STRING"}, options={"compaction.min.file-num": "2"})
        for batch in batches:
            changes = []
            for verb, item, customer in batch:
                before = joined(orders, customers)
                known = customers.setdefault(item, [])
                if verb == "order":
                    orders.append(item)
                elif verb == "cancel" and item in orders:
                    orders.remove(item)
                elif verb == "come":
                    known.append(customer)
                elif verb == "go" and customer in known:
                    known.remove(customer)
                after = joined(orders, customers)
                removed, come = as_multiset(before) - as_multiset(after), as_multiset(after) - as_multiset(before)
                for kind, rows in (("-D", removed), ("+I", come)):
                    changes += [(kind, dict(row)) for row in rows.elements()]
            table = Catalog(directory).load_table("default", "t")
            if changes:
                write(table, changes)
            if random.random() < 0.3:
                compact(Catalog(directory).load_table("default", "t"), full=random.random() < 0.3)
            assert as_multiset(read(table)) == as_multiset(joined(orders, customers))
