"""Random histories of a table against a dictionary.

A history is a list of steps: writes (upserts and deletes, late sequence values among them), compactions as the
thresholds ask, full compactions, overwrites and truncations. After each step the table, read back by `Table.to_arrow`,
equals a naive fold of all rows in order, whatever was compacted when; and the invariants of the format hold for every
live file.

`TABLESTORE_SOAK=2000 pytest tests/property` (the make target is `make soak`) plays that many histories per test.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import date, datetime, timezone
from decimal import Decimal

from engine_support import DELETE, PUT, check_invariants, compact, make_table, new_job, read, write
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tablestore_engine.metadata.partition import PartitionFormat

EXAMPLES = int(os.environ.get("TABLESTORE_SOAK", "40"))
PROFILE = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

VALUES = {
    "INT": st.integers(-4, 4) | st.sampled_from([-(2**31), 2**31 - 1]),
    "BIGINT": st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1]),
    "SMALLINT": st.integers(-3, 3),
    "STRING": st.sampled_from(["", "a", "b", "seven..", "eight...", "x" * 40, "ü", "\U0001f600", "a\0"]),
    "DECIMAL(5, 2)": st.decimals(-2, 2, places=2),
    "DECIMAL(30, 3)": st.sampled_from(
        [Decimal("-1.000"), Decimal("0.000"), Decimal("123456789012345678901234.567")]
    ),
    "DATE": st.dates(date(2023, 12, 30), date(2024, 1, 2)),
    "TIMESTAMP(6)": st.sampled_from(
        [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 1, 1, 0, 0, 0, 1)]
    ),
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": st.sampled_from(
        [datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(2024, 1, 1, tzinfo=timezone.utc)]
    ),
    "BOOLEAN": st.booleans(),
    "BYTES": st.binary(max_size=9),
    "DOUBLE": st.sampled_from([0.0, 1.5, -2.0, float("inf")]),
}
KEY_TYPES = [t for t in VALUES if t not in ("DOUBLE", "BOOLEAN")]
PARTITION_TYPES = ["STRING", "INT", "DATE", "BOOLEAN", "DECIMAL(5, 2)"]


@st.composite
def tables(draw, keyed):
    """Columns, keys, partition columns and options of a table."""
    columns, keys, partition = {}, [], []
    for i, kind in enumerate(draw(st.lists(st.sampled_from(PARTITION_TYPES), max_size=2))):
        columns[f"p{i}"] = kind
        partition.append(f"p{i}")
    if keyed:
        for i, kind in enumerate(draw(st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=2))):
            columns[f"k{i}"] = kind
            keys.append(f"k{i}")
    for i, kind in enumerate(draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))):
        columns[f"v{i}"] = kind
    names = draw(st.permutations(list(columns)))
    columns = {name: columns[name] for name in names}
    options = {
        "num-sorted-run.compaction-trigger": str(draw(st.integers(2, 4))),
        "compaction.size-ratio": str(draw(st.sampled_from([0, 1, 50]))),
        "compaction.max-size-amplification-percent": str(draw(st.sampled_from([100, 200, 1000]))),
        "target-file-size": draw(st.sampled_from(["1 b", "2 kb", "128 mb"])),
        "manifest.merge-min-count": str(draw(st.integers(2, 5))),
        "compaction.min.file-num": str(draw(st.integers(2, 4))),
    }
    if keyed:
        options["bucket"] = str(draw(st.sampled_from([1, 2, 3, -1])))
        if options["bucket"] == "-1":
            options["dynamic-bucket.target-row-num"] = str(draw(st.integers(1, 4)))
            options["dynamic-bucket.initial-buckets"] = str(draw(st.integers(1, 2)))
            options["dynamic-bucket.max-buckets"] = str(draw(st.sampled_from([-1, 1, 3])))
        if draw(st.booleans()):
            columns["at"] = draw(st.sampled_from(["INT", "TIMESTAMP(6)", "STRING"]))
            options["sequence.field"] = "at"
            options["sequence.field.sort-order"] = draw(st.sampled_from(["ascending", "descending"]))
    return columns, [*partition, *keys] if keyed else [], partition, options


def rows_of(columns, not_null):
    return st.fixed_dictionaries(
        {n: VALUES[t] if n in not_null else st.none() | VALUES[t] for n, t in columns.items()}
    )


def step(columns, not_null, kinds):
    row = st.tuples(rows_of(columns, not_null), st.sampled_from([PUT, PUT, PUT, DELETE] if kinds else [PUT]))
    writing = st.tuples(st.just("write"), st.lists(row, max_size=8))
    other = st.sampled_from(
        [("compact", None), ("compact", None), ("full", None), ("overwrite", None), ("truncate", None)]
    )
    return writing | writing | writing | other


@st.composite
def histories(draw, keyed):
    columns, keys, partition, options = draw(tables(keyed))
    one = step(columns, set(keys), kinds=keyed)
    return (
        (columns, keys, partition, options),
        draw(st.lists(one, min_size=1, max_size=10)),
        draw(st.randoms()),
    )


class Fold:
    """The naive table: a dictionary by key; a deleted key is remembered with the sequence of its delete."""

    def __init__(self, keys, options):
        self.keys = keys
        self.field = options.get("sequence.field")
        self.descending = options.get("sequence.field.sort-order") == "descending"
        self.rows = {}

    def put(self, row, kind):
        key = tuple(row[k] for k in self.keys)
        before = self.rows.get(key)
        if before is not None and self.field and not self._wins(row[self.field], before[0][self.field]):
            return
        self.rows[key] = (row, kind)

    def _wins(self, new, old):
        """Whether a sequence value comes at or after the old one; null comes before all."""
        if new is None or old is None:
            return old is None
        return new <= old if self.descending else new >= old

    def visible(self):
        return [row for row, kind in self.rows.values() if kind == PUT]


def order(row):
    return repr(sorted(row.items()))


def play(history, apply, expected):
    (columns, keys, partition, options), steps, _ = history
    directory = tempfile.mkdtemp(prefix="history-")
    try:
        table = make_table(directory, columns, keys, partition, options)
        for number, (verb, rows) in enumerate(steps):
            note(f"{number}: {verb} {rows}")
            apply(table, verb, rows)
            assert sorted(read(table), key=order) == sorted(expected(), key=order)
            check_invariants(table)
        for snapshot in table.snapshots():
            read(table, snapshot=snapshot)
    finally:
        shutil.rmtree(directory)


@PROFILE
@given(histories(keyed=True))
def test_keyed_tables(history):
    (_, keys, _, options), _, random = history
    fold = Fold(keys, options)

    def apply(table, verb, rows):
        if verb == "write":
            write(table, [r for r, _ in rows], [k for _, k in rows])
            for row, kind in rows:
                fold.put(row, kind)
        elif verb == "compact":
            compact(table, full=False)
        elif verb == "full":
            compact(table)
        elif verb == "truncate":
            write(table, [], kind="OVERWRITE", replaces=lambda entry: True)
            fold.rows.clear()
        elif fold.rows:
            # INSERT OVERWRITE of the partitions that one row falls into.
            row = random.choice(sorted((r for r, _ in fold.rows.values()), key=order))
            names = table.schema.partition_keys
            place = PartitionFormat(table.schema).encode(tuple(row[n] for n in names))
            write(
                table,
                [row],
                kind="OVERWRITE",
                job=new_job(table, into_empty=True),
                replaces=lambda entry: entry.partition == place,
            )
            fold.rows = {k: v for k, v in fold.rows.items() if any(v[0][n] != row[n] for n in names)}
            fold.put(row, PUT)

    play(history, apply, fold.visible)


@PROFILE
@given(histories(keyed=False))
def test_append_tables(history):
    rows_now = []

    def apply(table, verb, rows):
        if verb == "write":
            write(table, [r for r, _ in rows])
            rows_now.extend(r for r, _ in rows)
        elif verb in ("compact", "full"):
            compact(table, full=verb == "full")
        else:
            write(table, [], kind="OVERWRITE", replaces=lambda entry: True)
            rows_now.clear()

    play(history, apply, lambda: rows_now)
