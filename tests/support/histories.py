"""Histories of tables of random columns: what Hypothesis draws, and the table and player of what it drew.

A *history* is a table (columns, key, partition columns, options), the steps that `player` takes on it, and how many
rows reach the write buffer at a time.
"""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from support.player import Player, steps_of
from support.soak import examples
from support.tables import make_table

EXAMPLES = examples(10)
MANY = examples(25)
PROFILE = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
THOROUGH = settings(PROFILE, max_examples=MANY)
"""Of what has many cases and cheap histories: merge engines, multisets."""
SIDE_BY_SIDE = 50
"""Histories in one table, which a query of Spark reads at once."""

INTS = {"type": "ARRAY", "element": "INT"}
NUMBERED = {"type": "MAP", "key": "STRING", "value": "INT"}
PAIR = {
    "type": "ROW",
    "fields": [{"id": 0, "name": "a", "type": "SMALLINT"}, {"id": 1, "name": "b", "type": INTS}],
}
LISTS = st.lists(st.none() | st.integers(0, 3), max_size=3)
KEY_VALUES = {
    "TINYINT": st.integers(-128, 127),
    "SMALLINT": st.integers(-3, 3) | st.just(2**15 - 1),
    "INT": st.integers(-4, 4) | st.sampled_from([-(2**31), 2**31 - 1]),
    "BIGINT": st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1]),
    "STRING": st.sampled_from(["", "a", "b", "seven..", "eight...", "x" * 40, "ü", "\U0001f600", "a\0"]),
    "VARCHAR(3)": st.sampled_from(["", "a", "ü\U0001f600x"]),
    "CHAR(2)": st.sampled_from(["ab", "üä"]),
    "DECIMAL(5, 2)": st.decimals(-2, 2, places=2),
    "DECIMAL(30, 3)": st.sampled_from([Decimal("-1.000"), Decimal("0.000"), Decimal("123456789012345678901234.567")]),
    "DATE": st.dates(date(2023, 12, 30), date(2024, 1, 2)),
    "TIMESTAMP(6)": st.sampled_from([datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 1, 1, 0, 0, 0, 1)]),
    "TIMESTAMP(3)": st.sampled_from([datetime(1969, 12, 31, 23, 59, 59, 999000), datetime(2024, 1, 1, 0, 0, 0, 1000)]),
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": st.sampled_from(
        [datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(2024, 1, 1, tzinfo=timezone.utc)]
    ),
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": st.sampled_from(
        [datetime(1969, 12, 31, 23, 59, 59, 999000, timezone.utc), datetime(2024, 1, 1, tzinfo=timezone.utc)]
    ),
    "BYTES": st.binary(max_size=9),
}
TYPES = {"INTS": INTS, "NUMBERED": NUMBERED, "PAIR": PAIR}
"""Types whose definition is no text, by the name that they have here."""
VALUES = {
    **KEY_VALUES,
    "BOOLEAN": st.booleans(),
    "FLOAT": st.sampled_from([0.0, 1.5, -2.0, float("-inf")]),
    "DOUBLE": st.sampled_from([0.0, 1.5, -2.0, float("inf")]),
    "BINARY(2)": st.binary(min_size=2, max_size=2),
    "INTS": LISTS,
    "NUMBERED": st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 3), max_size=2),
    "PAIR": st.fixed_dictionaries({"a": st.none() | st.integers(0, 2), "b": st.none() | LISTS}),
}
PARTITION_TYPES = ["STRING", "INT", "DATE", "BOOLEAN", "DECIMAL(5, 2)"]
KINDS = [0, 0, 2, 2, 1, 3]
"""Of rows; those that put a row come more often."""


@st.composite
def tables(draw, keyed):
    """Columns, keys, partition columns and options of a table."""
    columns, keys, partition = {}, [], []
    for i, kind in enumerate(draw(st.lists(st.sampled_from(PARTITION_TYPES), max_size=2))):
        columns[f"p{i}"] = kind
        partition.append(f"p{i}")
    if keyed:
        for i, kind in enumerate(draw(st.lists(st.sampled_from(list(KEY_VALUES)), min_size=1, max_size=2))):
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
        options |= draw(bucket_options())
        if draw(st.booleans()):
            columns["at"] = draw(st.sampled_from(["INT", "TIMESTAMP(6)", "STRING"]))
            options["sequence.field"] = "at"
            options["sequence.field.sort-order"] = draw(st.sampled_from(["ascending", "descending"]))
    return columns, [*partition, *keys] if keyed else [], partition, options


@st.composite
def bucket_options(draw):
    """A few buckets, or as many as the keys need."""
    options = {"bucket": str(draw(st.sampled_from([1, 2, 3, -1])))}
    if options["bucket"] == "-1":
        options["dynamic-bucket.target-row-num"] = str(draw(st.integers(1, 4)))
        options["dynamic-bucket.initial-buckets"] = str(draw(st.integers(1, 2)))
        options["dynamic-bucket.max-buckets"] = str(draw(st.sampled_from([-1, 1, 3])))
    return options


def rows_of(columns, not_null):
    return st.fixed_dictionaries({n: VALUES[t] if n in not_null else st.none() | VALUES[t] for n, t in columns.items()})


@st.composite
def histories(draw, keyed):
    """A table, steps, and how many rows come to the write buffer at a time."""
    columns, keys, partition, options = draw(tables(keyed))
    row = st.tuples(rows_of(columns, set(keys)), st.sampled_from(KINDS if keyed else [0]))
    one = steps_of(st.lists(row, max_size=8), more=("overwrite", "truncate"))
    steps = draw(st.lists(one, min_size=1, max_size=12))
    return (columns, keys, partition, options), steps, draw(st.integers(1, 5))


def shown(columns):
    """What makes rows of a table comparable: their order and that of the entries of their maps does not matter."""
    maps = [name for name, kind in columns.items() if kind == "NUMBERED"]

    def one(row):
        return {n: dict(v) if n in maps and v is not None else v for n, v in row.items()}

    def order(row):
        return repr([(n, sorted(v.items()) if isinstance(v, dict) else v) for n, v in sorted(row.items())])

    return lambda rows: sorted(map(one, rows), key=order)


def made(directory, history):
    """The table of a history, and the player of its steps."""
    (columns, keys, partition, options), _, pieces = history
    typed = {name: TYPES.get(kind, kind) for name, kind in columns.items()}
    return Player(make_table(directory, typed, keys, partition, options), pieces=pieces)
