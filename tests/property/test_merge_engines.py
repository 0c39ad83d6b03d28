"""Random histories of tables with merge engines against a naive fold of all records in order.

Whatever is flushed and compacted when, reading gives what folding the whole history gives. `make soak` plays thousands.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import date, datetime
from decimal import Decimal
from functools import reduce

import pytest
from engine_support import check_invariants, compact, make_table, read, write
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

PROFILE = settings(
    max_examples=int(os.environ.get("TABLESTORE_SOAK", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
INTS = {"type": "ARRAY", "element": "INT"}
LISTS = st.lists(st.integers(0, 3), max_size=3)
TEXTS = st.sampled_from(["", " ", "a", "b", "a;b", ";", "ü", "x y"])


def fold_non_null(function):
    """A fold that nulls take no part in."""
    return lambda values: reduce(function, [v for v in values if v is not None]) if any(
        v is not None for v in values
    ) else None  # fmt: skip


def listagg(values, *, distinct=False):
    shown = [v for v in values if v is not None and v.strip()]
    if not shown or not distinct:
        return ";".join(shown) or None
    tokens = shown[0].split(";")
    for text in shown[1:]:
        tokens += [t for t in dict.fromkeys(text.split(";")) if t.strip() and t not in tokens]
    return ";".join(tokens)


def collect(values, *, distinct=False):
    if all(v is None for v in values):
        return None
    every = [one for v in values if v is not None for one in v]
    return list(dict.fromkeys(every)) if distinct else every


# (function, type, values, options, naive fold of a list of values)
FOLDS = [
    ("sum", "INT", st.integers(-5, 5), {}, fold_non_null(lambda a, b: a + b)),
    ("sum", "DECIMAL(9, 2)", st.decimals(-9, 9, places=2), {}, fold_non_null(lambda a, b: a + b)),
    ("sum", "DOUBLE", st.sampled_from([0.5, -2.0, 4.25]), {}, fold_non_null(lambda a, b: a + b)),
    ("product", "BIGINT", st.integers(-2, 2), {}, fold_non_null(lambda a, b: a * b)),
    ("max", "STRING", TEXTS, {}, fold_non_null(max)),
    ("max", "DOUBLE", st.sampled_from([0.5, -2.0, float("inf")]), {}, fold_non_null(max)),
    ("min", "DATE", st.dates(date(2023, 12, 30), date(2024, 1, 2)), {}, fold_non_null(min)),
    ("min", "DECIMAL(30, 3)", st.sampled_from([Decimal("-1.000"), Decimal("12345678901234567890.125")]), {},
     fold_non_null(min)),
    ("max", "TIMESTAMP(6)", st.sampled_from([datetime(1969, 12, 31, 23, 59), datetime(2024, 1, 1)]), {},
     fold_non_null(max)),
    ("last_value", "STRING", TEXTS, {}, lambda values: values[-1]),
    ("first_value", "INT", st.integers(0, 9), {}, lambda values: values[0]),
    ("last_non_null_value", INTS, LISTS, {}, fold_non_null(lambda _, b: b)),
    ("first_non_null_value", "STRING", TEXTS, {}, fold_non_null(lambda a, _: a)),
    ("bool_and", "BOOLEAN", st.booleans(), {}, fold_non_null(lambda a, b: a and b)),
    ("bool_or", "BOOLEAN", st.booleans(), {}, fold_non_null(lambda a, b: a or b)),
    ("listagg", "STRING", TEXTS, {"list-agg-delimiter": ";"}, listagg),
    ("listagg", "STRING", TEXTS, {"list-agg-delimiter": ";", "distinct": "true"},
     lambda values: listagg(values, distinct=True)),
    ("collect", INTS, LISTS, {}, collect),
    ("collect", INTS, LISTS, {"distinct": "true"}, lambda values: collect(values, distinct=True)),
]  # fmt: skip


@st.composite
def histories(draw, values):
    """Columns v0 … with their values; steps are batches of rows, and compactions."""
    row = st.fixed_dictionaries(
        {"id": st.integers(0, 4), **{f"v{i}": st.none() | one for i, one in enumerate(values)}}
    )
    step = st.tuples(st.just("write"), st.lists(row, max_size=8)) | st.sampled_from(
        [("compact", None), ("full", None)]
    )
    options = {
        "bucket": str(draw(st.integers(1, 2))),
        "num-sorted-run.compaction-trigger": str(draw(st.integers(2, 4))),
        "target-file-size": draw(st.sampled_from(["1 b", "2 kb", "128 mb"])),
    }
    return options, draw(st.lists(step | step, min_size=1, max_size=10))


def play(columns, options, steps, expected):
    """Run a history; after each step the rows, by id, are what `expected` makes of each id's records."""
    directory = tempfile.mkdtemp(prefix="history-")
    try:
        table = make_table(directory, columns, ["id"], options=options)
        records = {}
        for number, (verb, rows) in enumerate(steps):
            note(f"{number}: {verb} {rows}")
            if verb == "write":
                write(table, rows)
                for one in rows:
                    records.setdefault(one["id"], []).append(one)
            else:
                compact(table, full=verb == "full")
            found = {row["id"]: row for row in read(table)}
            assert found == {key: expected(key, rows) for key, rows in records.items()}
            check_invariants(table)
    finally:
        shutil.rmtree(directory)


@PROFILE
@given(st.data())
def test_aggregation(data):
    chosen = data.draw(st.lists(st.sampled_from(FOLDS), min_size=1, max_size=4), label="folds")
    options, steps = data.draw(histories([one[2] for one in chosen]))
    columns = {"id": "INT", **{f"v{i}": one[1] for i, one in enumerate(chosen)}}
    options["merge-engine"] = "aggregation"
    for i, (function, _, _, more, _) in enumerate(chosen):
        options[f"fields.v{i}.aggregate-function"] = function
        options |= {f"fields.v{i}.{key}": value for key, value in more.items()}

    def expected(key, rows):
        folded = {f"v{i}": one[4]([row[f"v{i}"] for row in rows]) for i, one in enumerate(chosen)}
        return {"id": key, **folded}

    play(columns, options, steps, expected)


@PROFILE
@given(histories([TEXTS, st.integers(0, 3)]))
def test_partial_update(history):
    options, steps = history
    last = fold_non_null(lambda _, b: b)
    play(
        {"id": "INT", "v0": "STRING", "v1": "INT"},
        {**options, "merge-engine": "partial-update"},
        steps,
        lambda key, rows: {"id": key, "v0": last([r["v0"] for r in rows]), "v1": last([r["v1"] for r in rows])},
    )


@PROFILE
@given(histories([TEXTS]))
def test_first_row(history):
    options, steps = history
    options = {**options, "merge-engine": "first-row"}
    play({"id": "INT", "v0": "STRING"}, options, steps, lambda _, rows: rows[0])


@pytest.mark.parametrize("compacted", [True, False])
def test_a_sum_that_fits_only_in_the_end(tmp_path, compacted):
    """Partial sums must not overflow where the column's type holds them; the order decides, as in the fold."""
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = make_table(tmp_path, {"id": "INT", "v": "BIGINT"}, ["id"], options=options)
    for value in (2**62, 2**62 - 1, -(2**62)):
        write(table, [{"id": 1, "v": value}])
    if compacted:
        compact(table)
    assert read(table) == [{"id": 1, "v": 2**62 - 1}]
