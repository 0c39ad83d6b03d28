"""Random tables without a key, changes of them that take no row away that is not there, and merges of any files."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import date
from decimal import Decimal
from math import isnan

import pyarrow as pa
from hypothesis import strategies as st

from support.tables import arrow_rows, identity
from tablestore_engine.metadata.compaction_plan import MergeOutput
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.compact.compact_bucket import run_compaction
from tablestore_engine.operation.compact.compact_task import CompactTask
from tablestore_engine.schema.table.row_kind import ROW_KIND

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


def compact_some(table, random, among=None):
    """Merge any files of any bucket; or of all buckets of the histories `among` those of a table."""
    buckets = sorted(table.scan().buckets, key=lambda b: (b.partition_path, b.bucket))
    if among is not None:
        buckets = [one for one in buckets if one.partition[0] in among]
    elif buckets:
        buckets = [random.choice(buckets)]
    entries = [
        entry for one in buckets for entry in run_compaction(task_of_some(table, one, random), unique("c")).entries
    ]
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
