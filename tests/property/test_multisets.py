"""Random changes of tables without a key against a multiset.

A history adds rows and takes rows away, in any cuts and through small write buffers; between writes, and while one is
under way, files merge: as the thresholds ask, fully, or any set of files of a bucket. After each step the table, its
number of rows and its older snapshots equal a `Counter` that did the same. `make soak` plays thousands.
"""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import date
from decimal import Decimal
from functools import partial
from itertools import product
from math import isnan
from random import Random
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.histories import MANY, THOROUGH
from support.past import Past
from support.scratch import scratch_directory
from support.tables import arrow_rows, compact, identity, make_table, read

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import NegativeCountError
from tablestore_engine.mergetree.multiset import retractions
from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.compact.compact_bucket import run_compaction
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.operation.scan import discriminating_columns
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.spark.read import multiset_retracted_rows
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

INTS = {"type": "ARRAY", "element": "INT"}
PAIR = {
    "type": "ROW",
    "fields": [{"id": 0, "name": "a", "type": "DOUBLE"}, {"id": 1, "name": "b", "type": INTS}],
}
FLOATS = st.sampled_from([0.0, -0.0, 1.5, float("nan"), -float("nan"), float("inf")])
LISTS = st.none() | st.lists(st.none() | st.integers(0, 1), max_size=2)
VALUES = {
    "INT": (st.integers(0, 2), "INT"),
    "STRING": (st.sampled_from(["", "a", "ü", "a longer text", "a longer text!"]), "STRING"),
    "BYTES": (st.sampled_from([b"", b"\0", b"\xff" * 12]), "BYTES"),
    "DECIMAL": (st.sampled_from([Decimal("0.00"), Decimal("-12345678901234567890.25")]), "DECIMAL(30, 2)"),
    "DATE": (st.dates(date(2024, 1, 1), date(2024, 1, 2)), "DATE"),
    "BOOLEAN": (st.booleans(), "BOOLEAN"),
    "DOUBLE": (FLOATS, "DOUBLE"),
    "FLOAT": (FLOATS, "FLOAT"),
    "INTS": (LISTS, INTS),
    "PAIR": (st.fixed_dictionaries({"a": st.none() | FLOATS, "b": LISTS}), PAIR),
    "PAIRS": (
        st.lists(st.none() | st.fixed_dictionaries({"a": FLOATS, "b": LISTS}), max_size=2),
        {"type": "ARRAY", "element": PAIR},
    ),
}


@st.composite
def tables(draw):
    """Values of columns, partition columns and options."""
    names = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    columns = {f"v{i}": VALUES[name] for i, name in enumerate(names)}
    partition = ["p"] if draw(st.booleans()) else []
    options = {
        "target-file-size": draw(st.sampled_from(["1 b", "128 mb"])),
        "compaction.min.file-num": str(draw(st.integers(2, 4))),
        "compaction.max-size-amplification-percent": str(draw(st.sampled_from([50, 200, 100_000]))),
        "write-buffer-size": draw(st.sampled_from(["100 b", "1 kb", "1 mb"])),
    }
    if partition:
        columns["p"] = VALUES["INT"]
    if draw(st.booleans()):
        columns["k"] = VALUES["STRING"]
        options |= {"bucket": "2", "bucket-key": "k"}
    return columns, partition, options


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


def content(value):
    """What a value is for a table that counts: hashable, equal when the table takes it for the same."""
    if isinstance(value, dict):
        return tuple((name, content(value[name])) for name in sorted(value))
    if isinstance(value, list):
        return tuple(map(content, value))
    if isinstance(value, float):
        return "NaN" if isnan(value) else value + 0.0
    return value


def as_multiset(rows):
    return Counter(map(content, rows))


def changes_of(changes, there, random):
    """Rows with kinds: a row is only taken away when it is there, or comes in the same write."""
    rows = []
    for verb, row, times in changes:
        for _ in range(times):
            if verb == "add":
                rows.append(("+I", row))
            elif there:
                rows.append(("-D", there.pop(random.randrange(len(there)))))
    there += [row for kind, row in rows if kind == "+I"]
    random.shuffle(rows)
    return rows


def write(table, rows):
    given = arrow_rows(table.schema, [row for _, row in rows])
    table.write(given.append_column(ROW_KIND, pa.array([kind for kind, _ in rows], pa.string())))


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


def compact_some(table, random, among=None):
    """Merge any files of any bucket; or of all buckets of the histories `among` those of a table."""
    buckets = sorted(table.scan().buckets, key=lambda b: (b.partition_path, b.bucket))
    if among is not None:
        buckets = [one for one in buckets if one.partition[0] in among]
    elif buckets:
        buckets = [random.choice(buckets)]
    entries = [entry for one in buckets for entry in run_compaction(task_of_some(table, one, random), unique("c"))]
    if entries:
        added = tuple(e for e in entries if e.kind == FileKind.ADD)
        removed = tuple(e for e in entries if e.kind == FileKind.DELETE)
        Committer(table.state).commit(Change("COMPACT", added, removed), identity("compact"))


def unique(prefix):
    return f"{prefix}{uuid.uuid4().hex[:6]}-"


def task_of_some(table, bucket, random):
    """Merges any files of a bucket."""
    files = bucket.files  # as they were written: an order by names would differ when a history is played again
    chosen = tuple(random.sample(files, random.randint(1, len(files))))
    return CompactTask(
        table.write_target(),
        {f.schema_id: table.schemas.load(f.schema_id) for f in chosen},
        bucket.partition_row,
        bucket.partition_path,
        bucket.bucket,
        bucket.total_buckets,
        chosen,
        output=MergeOutput(0, drop_deletes=len(chosen) == len(files)),
    )


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


SIDE_BY_SIDE = 50
"""Histories in one table, which a query of Spark reads at once."""


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


@pytest.mark.spark
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
