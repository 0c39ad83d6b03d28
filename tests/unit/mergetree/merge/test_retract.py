"""Folds with retractions against their definitions, many groups at once; and the layers that a write makes of them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import naive_folds as naive

from tablestore_engine.errors import ExecutionError, RowKindError
from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.fold_records import fold_sorted
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.mergetree.merge.merge_runs import last_of_key_mask
from tablestore_engine.mergetree.merge.normalize_records import normalize_records
from tablestore_engine.mergetree.merge.retract import fold_retracting
from tablestore_engine.mergetree.merge.sequence_layers import LAYER_COLUMN, split_layers
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.merge_engine import Fold, MergeEngine

ROW = pa.struct([("k", pa.int32()), ("v", pa.string())])
NESTED = st.lists(
    st.none() | st.fixed_dictionaries({"k": st.none() | st.integers(0, 1), "v": st.sampled_from("xy")}),
    max_size=3,
)
LISTS = st.lists(st.none() | st.integers(0, 2), max_size=3)
CASES = [
    ("sum", pa.int8(), st.integers(-3, 3), {}),
    ("sum", pa.decimal128(9, 2), st.decimals(-9, 9, places=2), {}),
    ("count", pa.int64(), st.just(1), {}),
    ("product", pa.int32(), st.sampled_from([-1, 1, 2]), {}),
    ("product", pa.decimal128(18, 2), st.sampled_from([Decimal(text) for text in ("-1.50", "0.05", "2.00")]), {}),
    ("product", pa.decimal128(18, 0), st.sampled_from([Decimal(-1), Decimal(3)]), {}),
    ("last_value", pa.string(), st.sampled_from("ab"), {}),
    ("last_non_null_value", pa.list_(pa.int32()), LISTS, {}),
    ("collect", pa.list_(pa.int32()), LISTS, {}),
    ("collect", pa.list_(pa.int32()), LISTS, {"distinct": "true"}),
    ("merge_map", pa.map_(pa.string(), pa.int32()), st.dictionaries(st.sampled_from("ab"), st.integers(0, 2)), {}),
    ("nested_update", pa.list_(ROW), NESTED, {}),
    ("nested_update", pa.list_(ROW), NESTED, {"nested-key": "k"}),
    ("nested_update", pa.list_(ROW), NESTED, {"nested-key": "k", "nested-sequence-field": "v"}),
    ("nested_update", pa.list_(ROW), NESTED, {"nested-key": "k", "nested-key-null-strategy": "ignore"}),
    (
        "nested_update",
        pa.list_(ROW),
        NESTED,
        {"nested-key": "k", "nested-key-null-strategy": "ignore", "count-limit": "1"},
    ),
    ("primary-key", pa.string(), st.sampled_from("ab"), {}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "kind", "values", "options"), CASES, ids=lambda one: str(one)[:30])
@given(st.data())
def test_every_group_is_folded_as_by_itself(function, kind, values, options, data):
    groups = data.draw(
        st.lists(
            st.lists(st.tuples(st.booleans(), st.none() | values), min_size=1, max_size=6),
            min_size=1,
            max_size=4,
        )
    )
    records = [record for group in groups for record in group]
    fold = Fold(
        "v",
        function,
        distinct="distinct" in options,
        nested_key=tuple(options.get("nested-key", "")),
        nested_sequence=tuple(options.get("nested-sequence-field", "")),
        null_keys=options.get("nested-key-null-strategy", "merge"),
        count_limit=int(options["count-limit"]) if "count-limit" in options else None,
        rounds=pa.types.is_decimal(kind) and function == "product" and kind.scale > 0,
    )
    array = pa.array([list(v.items()) if isinstance(v, dict) else v for _, v in records], kind)
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    numbered = Groups(starts, len(records))
    back = np.array([b for b, _ in records])
    for retracts, found in (
        (back, fold_retracting(fold, array, numbered, back)),
        (None, fold_values(fold, array, numbered)),
    ):
        # The list of an only record is kept by `fold_sorted`, which knows all records.
        alone = False if fold.cleans or function == "primary-key" else None
        expected = [
            naive.fold(function, options, [(b and retracts is not None, v) for b, v in group], alone=alone)
            for group in groups
        ]
        if fold.cleans and fold.nested_key:
            values_of = [v and sorted(v, key=_by_fields) for v in found.to_pylist()]
            expected = [v and sorted(v, key=_by_fields) for v in expected]
        else:
            values_of = found.to_pylist()
        shown = [dict(v) if function == "merge_map" and v is not None else v for v in values_of]
        if function == "count":
            shown, expected = [v or 0 for v in shown], [v or 0 for v in expected]
        assert found.type == kind
        assert shown == expected


def _by_fields(row):
    return repr(sorted(row.items()))


@pytest.mark.parametrize("ignores", [False, True])
def test_an_only_record_keeps_a_list_with_duplicates(ignores):
    """A retraction that is left out is a record, too: as in Paimon, the list is folded then."""
    lists = pa.array([[1, 1], [], [2, 2], [3, 3], [3]], pa.list_(pa.int32()))
    columns = {"id": [1, 2, 2, 3, 3], "kind": [0, 1, 0, 0, 2], "v": lists}
    table = pa.table({**columns, "kind": pa.array(columns["kind"], pa.int8())})
    engine = MergeEngine("aggregation", folds=(Fold("v", "collect", distinct=True, ignore_retract=ignores),))
    found = fold_sorted(table, last_of_key_mask(table, ["id"]), engine, "kind")
    assert found.column("v").to_pylist() == [[1, 1], [2], [3]]


def test_a_product_that_rounds_takes_one_factor_after_the_other():
    factors = [[200, 1, "0.05", "0.05"], ["0.05", "0.05", 1, 200], [None, None], [None, "1.50", None], ["0.10"] * 4]
    numbers = [None if one is None else Decimal(one) for group in factors for one in group]
    starts = np.cumsum([0, *(len(group) for group in factors[:-1])])
    fold = Fold("v", "product", rounds=True)
    found = fold_values(fold, pa.array(numbers, pa.decimal128(10, 2)), Groups(starts, len(numbers)))
    assert found.to_pylist() == [Decimal("0.50"), Decimal("0.00"), None, Decimal("1.50"), Decimal("0.00")]
    with pytest.raises(ExecutionError, match="product of column 'v' does not fit its type"):
        fold_values(fold, pa.array([Decimal("99.99")] * 2, pa.decimal128(4, 2)), Groups(np.array([0]), 2))


def test_a_zero_hides_no_product_that_does_not_fit():
    """Of a long product that a zero ends floating point says NaN."""
    factors = [10**18] * 20 + [0] + [10**18] * 2
    fold, groups = Fold("v", "product"), Groups(np.array([0, 21]), len(factors))
    with pytest.raises(ExecutionError, match="product of column 'v' does not fit its type"):
        fold_values(fold, pa.array(factors), groups)
    assert fold_values(fold, pa.array(factors[:21]), Groups(np.array([0]), 21)).to_pylist() == [0]


def test_impossible_retractions_are_refused():
    with pytest.raises(RowKindError, match=r"column 'v'.*max.*ignore-retract"):
        fold_retracting(Fold("v", "max"), pa.array([1]), Groups(np.array([0]), 1), np.array([True]))
    with pytest.raises(ExecutionError, match="sum of column 'v' does not fit its type, int8"):
        fold_retracting(Fold("v", "sum"), pa.array([-128], pa.int8()), Groups(np.array([0]), 1), np.array([True]))


def rows(*given):
    """Rows of (key, kind, value)."""
    keys, kinds, values = zip(*given, strict=True)
    return pa.table({"id": list(keys), "kind": pa.array(kinds, pa.int8()), "v": pa.array(values, pa.string())})


LAST = MergeEngine("aggregation", (Fold("v", "last_non_null_value", retract_rule=RetractRule.IN_ORDER),))


@pytest.mark.parametrize(
    ("given_rows", "expected"),
    [
        # Ordinary rows fold; a retraction is a stretch of its own.
        ([(1, 0, "a"), (1, 0, "b"), (2, 0, "c")], [(1, 0, "b", 0), (2, 0, "c", 0)]),
        ([(1, 1, "a"), (1, 2, "b"), (2, 3, "c")], [(1, 1, "a", 0), (1, 2, "b", 1), (2, 3, "c", 0)]),
        # A value that came and went leaves no trace, where another one follows.
        ([(1, 1, "a"), (1, 2, "b"), (1, 1, "b"), (1, 2, "c")], [(1, 1, "a", 0), (1, 2, "c", 1)]),
        ([(1, 2, "b"), (1, 1, "b"), (1, 2, None)], [(1, 2, "b", 0), (1, 1, "b", 1), (1, 2, None, 2)]),
        ([(1, 2, "b"), (1, 1, "x"), (1, 2, "c")], [(1, 2, "b", 0), (1, 1, "x", 1), (1, 2, "c", 2)]),
        ([(1, 2, "b"), (1, 1, "b"), (2, 2, "c")], [(1, 2, "b", 0), (1, 1, "b", 1), (2, 2, "c", 0)]),
    ],
)
def test_layers(given_rows, expected):
    found = split_layers(rows(*given_rows), ["id"], LAST, "kind").select(["id", "kind", "v", LAYER_COLUMN])
    assert [tuple(row.values()) for row in found.to_pylist()] == expected


def test_each_factor_of_a_product_that_rounds_is_a_layer():
    folds = (Fold("v", "product", rounds=True), Fold("n", "sum"))
    given_rows = [(1, None, 1), (1, "1.50", 2), (1, None, 4), (1, "0.05", 8), (2, "2.00", 16), (2, None, 32)]
    table = pa.table(
        {
            "id": [key for key, _, _ in given_rows],
            "v": pa.array([None if v is None else Decimal(v) for _, v, _ in given_rows], pa.decimal128(9, 2)),
            "n": [n for _, _, n in given_rows],
        }
    )
    expected = [(1, None, 1, 0), (1, Decimal("1.50"), 6, 1), (1, Decimal("0.05"), 8, 2), (2, Decimal("2.00"), 48, 0)]
    found = split_layers(table, ["id"], MergeEngine("aggregation", folds), None)
    assert [tuple(row.values()) for row in found.to_pylist()] == expected
    again = split_layers(found.drop_columns([LAYER_COLUMN]), ["id"], MergeEngine("aggregation", folds), None)
    assert again.equals(found)


def test_a_map_that_takes_out_is_a_layer():
    """Folded with a newer one first, it would leave what it takes out of older ones."""
    kind = pa.map_(pa.string(), pa.struct([("at", pa.string())]))
    maps = [[("a", {"at": "1"})], [("b", {"at": "1"})], [("a", None)], None, [("a", {"at": "0"})]]
    table = pa.table({"id": [1, 1, 1, 1, 1], "v": pa.array(maps, kind)})
    fold = Fold("v", "merge_map_with_keytime", time_field="at")
    found = split_layers(table, ["id"], MergeEngine("aggregation", (fold,)), None)
    parts = [[("a", {"at": "1"}), ("b", {"at": "1"})], [("a", None)], [("a", {"at": "0"})]]
    assert (found.column("v").to_pylist(), found.column(LAYER_COLUMN).to_pylist()) == (parts, [0, 1, 2])
    whole = fold_values(fold, found.column("v").combine_chunks(), Groups(np.array([0]), 3))
    assert whole.to_pylist() == [[("b", {"at": "1"}), ("a", {"at": "0"})]]


def test_layers_begin_at_the_last_delete_that_removes():
    engine = MergeEngine("aggregation", (Fold("v", "max"),), removes_on_delete=True)
    found = split_layers(rows((1, 0, "a"), (1, 3, "a"), (1, 0, "b"), (1, 0, "c"), (2, 0, "d")), ["id"], engine, "kind")
    assert found.to_pylist() == [
        {"id": 1, "kind": 3, "v": "a", LAYER_COLUMN: 0},
        {"id": 1, "kind": 0, "v": "c", LAYER_COLUMN: 1},
        {"id": 2, "kind": 0, "v": "d", LAYER_COLUMN: 0},
    ]


def test_rows_that_are_refused_name_the_first():
    engine = MergeEngine("aggregation", (Fold("v", "max"),))
    with pytest.raises(RowKindError, match=r"column 'v' cannot take back.*\{'id': 2, 'v': 'b'\}"):
        normalize_records(rows((1, 0, "a"), (2, 1, "b"), (3, 3, "c")), engine, "kind")
    zero = MergeEngine("aggregation", (Fold("v", "product", retract_rule=RetractRule.IN_ORDER),))
    table = pa.table({"id": [1, 2], "kind": pa.array([0, 1], pa.int8()), "v": [0, 0]})
    with pytest.raises(RowKindError, match=r"cannot take back a zero.*'id': 2"):
        normalize_records(table, zero, "kind")


def test_rows_that_are_left_out():
    engine = MergeEngine("first-row", ignores_deletes=True)
    found = normalize_records(rows((1, 0, "a"), (1, 1, "a"), (1, 3, "b")), engine, "kind")
    assert found.to_pylist() == [{"id": 1, "v": "a"}]


def records(*given):
    """Records of (key, kind, sequence, other sequence, value)."""
    keys, kinds, first, second, values = zip(*given, strict=True)
    return pa.table(
        {
            "id": list(keys),
            "kind": pa.array(kinds, pa.int8()),
            "g": pa.array(first, pa.int32()),
            "h": pa.array(second, pa.int32()),
            "v": pa.array(values, pa.int32()),
        }
    )


KEEP = {"function": "last_value", "retract_rule": RetractRule.KEEP}
GROUPS = MergeEngine(
    "partial-update",
    (
        Fold("g", sequence=("g",), **KEEP),
        Fold("v", "sum", sequence=("g",), retract_rule=RetractRule.NEGATE),
        Fold("h", sequence=("h",), **KEEP),
    ),
    removing_groups=(("g",),),
)


@pytest.mark.parametrize(
    ("given_rows", "expected"),
    [
        # In time, also with the same sequence; too late; and without a sequence.
        ([(1, 0, 5, None, 1), (1, 3, 5, None, 1)], [(1, 1, 5, None, None)]),
        ([(1, 0, 5, None, 3), (1, 3, 4, None, 1)], [(1, 0, 5, None, 2)]),
        ([(1, 0, 5, None, 3), (1, 3, None, 7, 1)], [(1, 0, 5, 7, 3)]),
        # What comes after begins anew, as if nothing had been written.
        ([(1, 0, 5, 9, 3), (1, 3, 6, None, 1), (1, 0, 2, 8, 10)], [(1, 0, 2, 8, 10)]),
        ([(1, 0, 5, 9, 3), (1, 3, 6, None, 1), (1, 1, 9, None, 4), (1, 3, 1, None, 4), (1, 0, 2, 8, 10)],
         [(1, 0, 2, 8, 10)]),
        ([(1, 0, 5, 9, 3), (1, 3, 6, None, 1), (1, 1, 9, None, 4), (1, 0, 2, 8, 10), (1, 3, 3, None, 4)],
         [(1, 1, 3, None, None)]),
        # Without a row there is nothing to take back.
        ([(1, 1, 5, 9, 3), (1, 3, 6, None, 1), (1, 0, 2, None, 10)], [(1, 0, 2, None, 10)]),
        ([(1, 1, 5, 9, 3), (1, 0, 2, None, 10), (1, 1, 3, None, 4)], [(1, 0, 3, None, 6)]),
        # Only g is a removing group, so a delete that comes too late for g removes nothing.
        ([(1, 0, 5, 1, 3), (1, 3, 4, 2, 3), (2, 3, 1, None, 1), (2, 1, 2, None, 4)],
         [(1, 0, 5, 2, 0), (2, 1, 2, None, 5)]),
    ],
)  # fmt: skip
def test_deletes_of_sequence_groups(given_rows, expected):
    table = records(*given_rows)
    last = last_of_key_mask(table, ["id"])
    found = fold_sorted(table, last, GROUPS, "kind")
    assert [tuple(row.values()) for row in found.to_pylist()] == expected


def test_retractions_without_a_row_are_layers():
    engine = replace(GROUPS, removing_groups=())
    given_rows = [(1, 1, 5, None, 3), (1, 3, 6, None, 1), (1, 0, 7, None, 9), (1, 1, 8, None, 2), (1, 0, 9, None, 1)]
    found = split_layers(records(*given_rows, (2, 0, 1, None, 1), (2, 1, 1, None, 1)), ["id"], engine, "kind")
    rows = [tuple(row.values()) for row in found.select(["id", "kind", "g", "v", LAYER_COLUMN]).to_pylist()]
    assert rows == [(1, 1, 6, 4, 0), (1, 0, 9, 8, 1), (2, 0, 1, 0, 0)]
    found = split_layers(records((1, 3, 7, None, 9), (1, 1, 8, None, 2), (1, 0, 9, None, 1)), ["id"], GROUPS, "kind")
    assert found.select(["kind", "v", LAYER_COLUMN]).to_pylist() == [
        {"kind": kind, "v": v, LAYER_COLUMN: layer} for layer, (kind, v) in enumerate([(3, 9), (1, 2), (0, 1)])
    ]


def test_deletes_that_may_remove_are_layers_and_other_retractions_are_not():
    found = split_layers(
        records((1, 0, 5, None, 3), (1, 1, 6, None, 1), (1, 3, 7, None, 9), (1, 1, 8, None, 2), (2, 1, 1, None, 1)),
        ["id"], GROUPS, "kind",
    )  # fmt: skip
    rows = [tuple(row.values()) for row in found.select(["id", "kind", "g", "v", LAYER_COLUMN]).to_pylist()]
    assert rows == [(1, 0, 6, 2, 0), (1, 3, 7, 9, 1), (1, 1, 8, 2, 2), (2, 1, 1, 1, 0)]


def test_a_delete_without_a_removing_sequence_is_an_ordinary_retraction():
    found = normalize_records(records((1, 3, None, 4, 1), (2, 3, 4, None, 1)), GROUPS, "kind")
    assert found.column("kind").to_pylist() == [1, 3]
    assert found.column("v").to_pylist() == [None, 1]


def test_columns_that_decide_about_a_row_are_always_read():
    assert GROUPS.columns_for(["id"]) == ("id", "g")
    assert replace(GROUPS, removing_groups=()).columns_for(["id"]) == ("id", "g")
    assert GROUPS.columns_for(["h"]) == ("h", "g")
    assert MergeEngine("aggregation", (Fold("v", "sum"),)).columns_for(["id"]) == ("id",)
