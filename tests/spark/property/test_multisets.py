"""What Spark reads of tables without a key after random changes, against a multiset; many histories in one table."""

from __future__ import annotations

from itertools import product
from random import Random
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import MANY, SIDE_BY_SIDE, THOROUGH
from support.multiset_histories import as_multiset, changes_of, compact_some, tables, write
from support.scratch import scratch_directory
from support.tables import make_table

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.scan import discriminating_columns
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.spark.read import multiset_retracted_rows
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark


@st.composite
def many_histories(draw):
    """A table, the rows that its histories choose from, and a seed that plays them."""
    columns, partition, options = draw(tables())
    row = st.fixed_dictionaries({name: st.none() | values for name, (values, _) in columns.items()})
    typed = {"h": "INT", **{name: kind for name, (_, kind) in columns.items()}}
    rows = draw(st.lists(row, min_size=1, max_size=6))
    return (typed, ["h", *partition], options), rows, draw(st.integers(0, 2**32 - 1))


def played_side_by_side(directory, rows, random):
    """Play a history of its own in each partition of a table, and return what is there in the end."""
    there = [[] for _ in range(SIDE_BY_SIDE)]
    for _ in range(random.randint(2, 4)):
        batch, merged = [], set()
        for number, own in enumerate(there):
            if random.randrange(4):
                verbs = random.choices(["add", "take"], k=random.randint(1, 4))
                changes = [(verb, {"h": number, **random.choice(rows)}, random.randint(1, 3)) for verb in verbs]
                batch += changes_of(changes, own, random)
            else:
                merged.add(number)
        if batch:
            write(Catalog(directory).load_table("default", "t"), batch)
        compact_some(Catalog(directory).load_table("default", "t"), random, merged)
    return [row for own in there for row in own]


@settings(THOROUGH, max_examples=-(-MANY // SIDE_BY_SIDE))
@given(many_histories())
def test_spark_reads_a_multiset_however_it_looks_for_rows(spark, histories):
    """By row position or by hash, and by few columns first or by all at once."""
    (columns, partition, options), rows, seed = histories
    with scratch_directory("multiset-") as directory:
        make_table(directory, columns, [], partition, options)
        there = played_side_by_side(directory, rows, Random(seed))
        for enough, held in product((48.0, 1.0), (500_000, -1)):
            with (
                mock.patch.object(discriminating_columns, "ENOUGH_BITS", enough),
                mock.patch.object(multiset_retracted_rows, "HELD_ROWS", held),
                mock.patch.object(
                    multiset_retracted_rows, "_known", RecentlyUsed(10_000, multiset_retracted_rows._size)
                ),
            ):
                found = TableStore(directory, new_session(spark)).sql("SELECT * FROM t").toArrow()
            assert as_multiset(found.to_pylist()) == as_multiset(there), (enough, held)
