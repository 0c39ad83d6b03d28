"""Histories of tables with merge engines: the functions with values for them, and what Hypothesis draws of both."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from hypothesis import strategies as st

from support import naive_sketches as sketches
from support.histories import bucket_options
from support.player import steps_of

INSERT, BEFORE, AFTER, DELETE = 0, 1, 2, 3
INTS = {"type": "ARRAY", "element": "INT"}
MAPS = {"type": "MAP", "key": "STRING", "value": "INT"}
ROWS = {
    "type": "ARRAY",
    "element": {
        "type": "ROW",
        "fields": [{"id": 90, "name": "k", "type": "INT"}, {"id": 91, "name": "v", "type": "STRING"}],
    },
}
TIMED = {
    "type": "MAP",
    "key": "STRING",
    "value": {
        "type": "ROW",
        "fields": [{"id": 92, "name": "v", "type": "INT"}, {"id": 93, "name": "at", "type": "STRING"}],
    },
}
LISTS = st.lists(st.none() | st.integers(0, 3), max_size=3)
TEXTS = st.sampled_from(["", " ", "a", "b", "a;b", ";", "ü", "x y"])
DICTS = st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 3), max_size=2)
NESTED = st.lists(
    st.none() | st.fixed_dictionaries({"k": st.none() | st.integers(0, 1), "v": st.sampled_from("xy")}),
    max_size=3,
)
UPDATED = st.lists(
    st.none() | st.fixed_dictionaries({"k": st.none() | st.integers(0, 1), "v": st.none() | st.sampled_from("xy")}),
    max_size=3,
)
TIMES = st.fixed_dictionaries({"v": st.integers(0, 9), "at": st.none() | st.sampled_from(["1", "2", "10"])})
COUNTED = st.sets(st.tuples(st.integers(0, 40), st.integers(1, 3)), max_size=4).map(
    lambda coupons: sketches.hll(coupons, 4)
)
HASHED = st.sets(st.integers(1, 9), max_size=3).map(sketches.theta)

# (function, type, values, options of the column)
FOLDS = [
    ("sum", "INT", st.integers(-5, 5), {}),
    ("sum", "DECIMAL(9, 2)", st.decimals(-9, 9, places=2), {}),
    ("sum", "DOUBLE", st.sampled_from([0.5, -2.0, 4.25]), {}),
    ("count", "BIGINT", st.integers(-5, 5), {}),
    ("product", "BIGINT", st.sampled_from([-1, 1, 2]), {}),
    ("product", "DECIMAL(18, 2)", st.sampled_from([Decimal(text) for text in ("-1.00", "0.50", "1.00", "1.50")]), {}),
    ("max", "STRING", TEXTS, {}),
    ("max", "DOUBLE", st.sampled_from([0.5, -2.0, float("inf")]), {}),
    ("min", "DATE", st.dates(date(2023, 12, 30), date(2024, 1, 2)), {}),
    ("min", "DECIMAL(30, 3)", st.sampled_from([Decimal("-1.000"), Decimal("12345678901234567890.125")]), {}),
    ("max", "TIMESTAMP(6)", st.sampled_from([datetime(1969, 12, 31, 23, 59), datetime(2024, 1, 1)]), {}),
    ("last_value", "STRING", TEXTS, {}),
    ("first_value", "INT", st.integers(0, 9), {}),
    ("last_non_null_value", INTS, LISTS, {}),
    ("last_non_null_value", "STRING", TEXTS, {}),
    ("first_non_null_value", "STRING", TEXTS, {}),
    ("bool_and", "BOOLEAN", st.booleans(), {}),
    ("bool_or", "BOOLEAN", st.booleans(), {}),
    ("listagg", "STRING", TEXTS, {"list-agg-delimiter": ";"}),
    ("listagg", "STRING", TEXTS, {"list-agg-delimiter": ";", "distinct": "true"}),
    ("collect", INTS, LISTS, {}),
    ("collect", INTS, LISTS, {"distinct": "true"}),
    ("collect", ROWS, NESTED, {"distinct": "true"}),
    ("merge_map", MAPS, DICTS, {}),
    ("nested_update", ROWS, NESTED, {}),
    ("nested_update", ROWS, NESTED, {"nested-key": "k"}),
    ("nested_update", ROWS, NESTED.map(lambda rows: [row for row in rows if row]), {"count-limit": "3"}),
    ("nested_update", ROWS, UPDATED, {"nested-key": "k", "nested-sequence-field": "v"}),
    ("nested_update", ROWS, UPDATED, {"nested-key": "k", "nested-key-null-strategy": "ignore"}),
    ("nested_partial_update", ROWS, UPDATED, {"nested-key": "k"}),
    ("nested_partial_update", ROWS, UPDATED, {"nested-key": "k", "nested-key-null-strategy": "ignore"}),
    ("merge_map_with_keytime", TIMED, st.dictionaries(st.sampled_from("ab"), st.none() | TIMES), {"ts-field": "at"}),
    ("primary-key", "STRING", TEXTS, {}),
    ("max", "BOOLEAN", st.booleans(), {}),
    ("hll_sketch", "BYTES", COUNTED, {}),
    ("theta_sketch", "BYTES", HASHED, {}),
]
PLAIN = [one for one in FOLDS if one[0] in ("sum", "count", "product", "last_value", "last_non_null_value")]
ANY_ORDER = [
    one
    for one in FOLDS
    if one[0] in ("sum", "count", "max", "min", "last_value", "bool_and", "bool_or", "hll_sketch", "theta_sketch")
]


@st.composite
def histories(draw, columns, kinds, *, vectors=False):
    """Options, steps, and how many rows come to the writer at a time. `vectors`: all tables have deletion vectors.

    Most tables have one partition and few buckets: the keys are the same four, and each folds more records.
    """
    values = {name: st.none() | one for name, one in columns.items()}
    partitions = draw(st.sampled_from([1, 1, 1, 2]))
    key = {"p": st.integers(0, partitions - 1), "id": st.integers(0, 3)}
    rows = st.lists(st.tuples(st.fixed_dictionaries({**key, **values}), st.sampled_from(kinds)), max_size=8)
    options = {
        **draw(bucket_options()),
        "num-sorted-run.compaction-trigger": str(draw(st.integers(2, 4))),
        "target-file-size": draw(st.sampled_from(["1 b", "2 kb", "128 mb"])),
    }
    if vectors or draw(st.integers(0, 2)) == 0:
        options["deletion-vectors.enabled"] = "true"
    return options, draw(st.lists(steps_of(rows), min_size=1, max_size=12)), draw(st.integers(1, 9))


def engine_options(chosen, ignoring):
    options = {"merge-engine": "aggregation"}
    for i, (function, _, _, more) in enumerate(chosen):
        options[f"fields.v{i}.aggregate-function"] = function
        options |= {f"fields.v{i}.{key}": value for key, value in more.items()}
        if ignoring[i]:
            options[f"fields.v{i}.ignore-retract"] = "true"
    return options
