"""Sequence groups with every function, record by record as Paimon folds them: late records and retractions."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import naive_folds as naive

from tablestore_engine.mergetree.merge.fold_records import fold_sorted
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.merge_engine import Fold, MergeEngine

ROW = pa.struct([("k", pa.int32()), ("v", pa.string())])
NESTED = st.lists(st.none() | st.fixed_dictionaries({"k": st.integers(0, 2), "v": st.sampled_from("xy")}), max_size=3)
LISTS = st.lists(st.none() | st.integers(0, 2), max_size=3)
TIMED = pa.struct([("v", pa.int32()), ("at", pa.string())])
TIMES = st.dictionaries(
    st.sampled_from("ab"),
    st.none() | st.fixed_dictionaries({"v": st.integers(0, 9), "at": st.none() | st.sampled_from(["1", "2", "10"])}),
)
TEXTS = st.sampled_from(["", " ", "a", "b", "a;b"])
CASES = [
    ("sum", pa.int64(), st.integers(-3, 3), {}),
    ("last_value", pa.string(), TEXTS, {}),
    ("first_value", pa.string(), TEXTS, {}),
    ("last_non_null_value", pa.string(), TEXTS, {}),
    ("first_non_null_value", pa.string(), TEXTS, {}),
    ("listagg", pa.string(), TEXTS, {}),
    ("listagg", pa.string(), TEXTS, {"distinct": "true"}),
    ("collect", pa.list_(pa.int32()), LISTS, {}),
    ("merge_map", pa.map_(pa.string(), pa.int32()), st.dictionaries(st.sampled_from("ab"), st.integers(0, 2)), {}),
    ("nested_update", pa.list_(ROW), NESTED, {}),
    ("nested_update", pa.list_(ROW), NESTED, {"nested-key": "k"}),
    ("nested_update", pa.list_(ROW), NESTED, {"nested-key": "k", "count-limit": "3"}),
    ("nested_update", pa.list_(ROW), NESTED, {"count-limit": "2"}),
    ("nested_update", pa.list_(ROW), NESTED, {"nested-key": "k", "nested-sequence-field": "v"}),
    ("nested_partial_update", pa.list_(ROW), NESTED, {"nested-key": "k"}),
    ("merge_map_with_keytime", pa.map_(pa.string(), TIMED), TIMES, {"ts-field": "at"}),
    ("primary-key", pa.string(), TEXTS, {}),
]
TAKE_BACK = ("primary-key", "sum", "last_value", "last_non_null_value", "collect", "merge_map", "nested_update")


def expected(function, options, records):
    """Sequence and value of a key's records (sequence, back, value), one after the other."""
    state, reached, pairs = None, None, []
    given = [one for one in records if one[0] is not None]
    if len(records) == 1:
        return records[0][0], records[0][2] if given else None
    for at, back, value in given:
        late = reached is not None and at < reached
        reached = at if reached is None else max(at, reached)
        pairs.append((late, value))
        if function.startswith("first_"):
            continue
        state = (
            naive.step(function, options, state, back, value)
            if back or not late
            else naive.step_late(function, options, state, value)
        )
    if function == "first_value":
        late = [value for is_late, value in pairs if is_late]
        state = late[-1] if late else pairs[0][1] if pairs else None
    if function == "first_non_null_value":
        state = naive.first_non_null_in_group(pairs)
    return reached, state


@pytest.mark.parametrize(("function", "kind", "values", "options"), CASES, ids=lambda one: str(one)[:30])
@given(st.data())
def test_a_group_is_folded_as_paimon_does(function, kind, values, options, data):
    back = st.booleans() if function in TAKE_BACK else st.just(False)
    record = st.tuples(st.none() | st.integers(0, 3), back, st.none() | values)
    keys = data.draw(st.lists(st.lists(record, min_size=1, max_size=6), min_size=1, max_size=4))
    keys = [[(at, is_back and i > 0, value) for i, (at, is_back, value) in enumerate(of_key)] for of_key in keys]
    fold = Fold(
        "v",
        function,
        delimiter=";",
        distinct="distinct" in options,
        nested_key=("k",) if "nested-key" in options else (),
        nested_sequence=("v",) if "nested-sequence-field" in options else (),
        time_field=options.get("ts-field", ""),
        sequence=("s",),
        retract_rule=RetractRule.NEGATE if function == "sum" else RetractRule.IN_ORDER,
        count_limit=int(options["count-limit"]) if "count-limit" in options else None,
        named=True,
    )
    folds = (Fold("s", "last_value", sequence=("s",), retract_rule=RetractRule.KEEP), fold)
    engine = MergeEngine("partial-update", folds)
    rows = [(i, *one) for i, of_key in enumerate(keys) for one in of_key]
    table = pa.table(
        {
            "id": [row[0] for row in rows],
            "s": pa.array([row[1] for row in rows], pa.int32()),
            "kind": pa.array([3 if row[2] else 0 for row in rows], pa.int8()),
            # A record without a sequence was written without a value.
            "v": pa.array([row[3] if row[1] is not None else None for row in rows], kind),
        }
    )
    ids = np.array([row[0] for row in rows])
    last = np.append(ids[1:] != ids[:-1], True)
    folded = fold_sorted(table, last, engine, "kind")
    found = list(zip(folded["s"].to_pylist(), folded["v"].to_pylist(), strict=True))
    wanted = [expected(function, options, of_key) for of_key in keys]

    def shown(value):
        if isinstance(value, dict):
            return sorted(value.items())
        if function.startswith("merge_map") and value is not None:
            return sorted(value)
        if "nested-key" in options and value is not None:
            return sorted(value, key=lambda row: repr(sorted(row.items()) if row else None))
        return value

    assert [(at, shown(value)) for at, value in found] == [(at, shown(value)) for at, value in wanted]
