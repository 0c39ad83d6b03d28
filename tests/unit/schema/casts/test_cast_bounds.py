"""Statistics of older files: what they let a scan skip never holds a row that the filter accepts after the cast."""

from __future__ import annotations

import operator
from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evolve import EDGES, LTZ
from support.soak import examples

from tablestore_engine.operation.scan.stats_may_match import Bounds, comparable, may_match
from tablestore_engine.schema.casts.cast_arrays import cast_array
from tablestore_engine.schema.casts.cast_bounds import cast_bound, keeps_order, null_count_after
from tablestore_engine.schema.casts.cast_old_columns import CastMode, CastRules, is_castable
from tablestore_engine.schema.table.predicate import Compare, In, IsNotNull, IsNull
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import parse_type

TYPES = [*EDGES, "DECIMAL(12, 4)", "TIMESTAMP(3)", "VARCHAR(30)"]
OPERATORS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
PAIRS = [(a, b) for a in EDGES for b in TYPES if a != b and is_castable(parse_type(a), parse_type(b))]


def python_values(array):
    """Values as Python holds them; the few that it cannot hold are left out."""
    found = []
    for one in array:
        try:
            found.append(one.as_py())
        except (OverflowError, ValueError):
            continue
    return found


def holds(predicate, value):
    if isinstance(predicate, IsNull):
        return value is None
    if isinstance(predicate, IsNotNull):
        return value is not None
    if value is None:
        return False
    values = predicate.values if isinstance(predicate, In) else (predicate.value,)
    compare = OPERATORS["=" if isinstance(predicate, In) else predicate.op]
    return any(compare(value, one) for one in values)


@st.composite
def cases(draw):
    past, current = draw(st.sampled_from(PAIRS))
    values = draw(st.lists(st.none() | st.sampled_from(EDGES[past]), min_size=1, max_size=4))
    zone = draw(st.sampled_from(["UTC", "America/New_York"]))
    mode = draw(st.sampled_from(list(CastMode)))
    return past, current, values, CastRules(mode, zone)


def bounds_after(past, current, stored, rules):
    """What `FileBounds` makes of the statistics of a file with these values."""
    nulls, rows = stored.null_count, len(stored)
    after = null_count_after(past, current, rules, nulls, rows)
    valid = stored.drop_null()
    known = not pa.types.is_floating(stored.type) and len(valid) > 0
    if not known or not keeps_order(past, current, rules.zone):
        return Bounds(None, None, after, rows)
    low, high = min(valid.to_pylist()), max(valid.to_pylist())
    return Bounds(cast_bound(low, current), cast_bound(high, current), after, rows)


@settings(max_examples=examples(100), deadline=None)
@given(cases(), st.data())
def test_skipping_keeps_every_row(case, data):
    past, current, values, rules = parse_type(case[0]), parse_type(case[1]), case[2], case[3]
    stored = pa.array(values, to_arrow_type(past))
    cast = cast_array(stored, past, current, rules.zone)
    if rules.fails and cast.null_count > stored.null_count:
        return  # such a read is an error
    found = python_values(cast)
    constants = [one for one in found if one is not None and comparable(one, current) is not None]
    if current.root in ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ"):
        constants += [one + timedelta(days=shift) for one in constants for shift in (-1, 1) if 1 < one.year < 9999]
    predicates = [IsNull("c"), IsNotNull("c")]
    if constants:
        chosen = data.draw(st.sampled_from(constants))
        predicates += [Compare("c", op, chosen) for op in OPERATORS]
        predicates.append(In("c", (chosen, constants[0])))
    known = bounds_after(past, current, stored, rules)
    for predicate in predicates:
        if any(holds(predicate, one) for one in found):
            assert may_match(predicate, lambda column: (current, known)), (predicate, known)


@pytest.mark.parametrize(
    ("past", "current", "zone"),
    [
        ("INT", "BIGINT", "UTC"),
        ("INT", "DECIMAL(12, 2)", "UTC"),
        ("DECIMAL(10, 2)", "DECIMAL(12, 4)", "UTC"),
        ("VARCHAR(5)", "STRING", "UTC"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", "UTC"),
        ("TIMESTAMP(6)", "DATE", "America/New_York"),
        ("DATE", "TIMESTAMP(6)", "America/New_York"),
        ("TIMESTAMP(6)", LTZ, "UTC"),
    ],
)
def test_casts_that_keep_the_order(past, current, zone):
    assert keeps_order(parse_type(past), parse_type(current), zone)


@pytest.mark.parametrize(
    ("past", "current", "zone"),
    [
        ("INT", "STRING", "UTC"),
        ("STRING", "INT", "UTC"),
        ("BIGINT", "INT", "UTC"),
        ("DECIMAL(10, 2)", "DECIMAL(10, 1)", "UTC"),
        ("CHAR(5)", "STRING", "UTC"),
        ("TIMESTAMP(6)", LTZ, "America/New_York"),
        (LTZ, "DATE", "America/New_York"),
        ("BOOLEAN", "STRING", "UTC"),
    ],
)
def test_casts_that_change_the_order(past, current, zone):
    assert not keeps_order(parse_type(past), parse_type(current), zone)
