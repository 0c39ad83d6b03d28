"""What metadata may rule out: cases, and that it never rules out a row that matches."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.soak import examples
from support.tables import make_table, schema_of, write

from tablestore_engine.metadata.bucket_hash import bucket_of
from tablestore_engine.operation.scan.stats_may_match import (
    Bounds,
    ColumnBounds,
    buckets_for,
    comparable,
    each_may_match,
    key_value,
    may_match,
)
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, IsNull, Or
from tablestore_engine.schema.types.types import parse_type

INT = Bounds(10, 20, 0, 5)
NULLS = Bounds(None, None, 5, 5)
UNKNOWN = Bounds()
LOCAL = "TIMESTAMP(6) WITH LOCAL TIME ZONE"


@pytest.mark.parametrize(
    ("predicate", "bounds", "expected"),
    [
        (Compare("a", "=", 10), INT, True),
        (Compare("a", "=", 9), INT, False),
        (Compare("a", "=", 21), INT, False),
        (Compare("a", "<", 10), INT, False),
        (Compare("a", "<", 11), INT, True),
        (Compare("a", "<=", 10), INT, True),
        (Compare("a", "<=", 9), INT, False),
        (Compare("a", ">", 20), INT, False),
        (Compare("a", ">", 19), INT, True),
        (Compare("a", ">=", 20), INT, True),
        (Compare("a", ">=", 21), INT, False),
        (Compare("a", "=", Decimal("10.5")), INT, True),
        (Compare("a", "=", Decimal("20.5")), INT, False),
        (In("a", (1, 2)), INT, False),
        (In("a", (1, 15)), INT, True),
        (In("a", ()), INT, False),
        (IsNull("a"), INT, False),
        (IsNotNull("a"), INT, True),
        # Nulls only.
        (Compare("a", "=", 10), NULLS, False),
        (In("a", (10,)), NULLS, False),
        (IsNull("a"), NULLS, True),
        (IsNotNull("a"), NULLS, False),
        # Nothing known.
        (Compare("a", "=", 10), UNKNOWN, True),
        (IsNull("a"), UNKNOWN, True),
        (IsNull("a"), Bounds(1, 5, -1, 10), True),  # as Java Paimon says that it is not known
        (IsNotNull("a"), UNKNOWN, True),
        # A constant of another type says nothing: Spark may convert either side.
        (Compare("a", "=", "9"), INT, True),
        (Compare("a", "=", 9.0), INT, True),
        (Compare("a", "=", True), INT, True),
        (In("a", ("9",)), INT, True),
        (In("a", (9, 9.5)), INT, True),
        # Other columns.
        (Compare("zzz", "=", 9), INT, True),
        (And((Compare("zzz", "=", 9), Compare("A", "=", 9))), INT, False),
        (Or((Compare("zzz", "=", 9), Compare("a", "=", 9))), INT, True),
        (Or((Compare("a", "=", 8), Compare("a", "=", 9))), INT, False),
    ],
)
def test_may_match(predicate, bounds, expected):
    known = {"a": (parse_type("BIGINT"), bounds)}
    assert may_match(predicate, lambda column: known.get(column.lower())) is expected


def test_no_predicate_matches_all():
    assert may_match(None, lambda column: None)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (5, "INT", 5),
        (True, "INT", None),
        ("5", "INT", None),
        (5.0, "INT", None),
        (Decimal("5.5"), "DECIMAL(10, 2)", Decimal("5.5")),
        (5, "DECIMAL(10, 2)", 5),
        # Spark rounds both sides where no decimal holds all digits of both.
        (Decimal("1." + "0" * 27 + "1"), "INT", Decimal("1." + "0" * 27 + "1")),
        (Decimal("1." + "0" * 28 + "1"), "INT", None),
        (Decimal("1." + "0" * 18 + "1"), "BIGINT", None),
        (Decimal("1.5"), "DECIMAL(38, 18)", Decimal("1.5")),
        (Decimal("1.5000000000000000000"), "DECIMAL(38, 18)", None),
        (5, "DECIMAL(38, 18)", 5),
        (5, "DECIMAL(38, 30)", None),
        (2**70, "DECIMAL(38, 0)", 2**70),
        (2**70, "DECIMAL(38, 18)", None),
        ("a", "STRING", "a"),
        (5, "STRING", None),
        ("a", "CHAR(3)", None),
        (1.5, "DOUBLE", None),
        (True, "BOOLEAN", True),
        (1, "BOOLEAN", None),
        (date(2024, 1, 2), "DATE", date(2024, 1, 2)),
        ("2024-01-02", "DATE", date(2024, 1, 2)),
        ("2024-1-2", "DATE", None),
        ("2024-13-01", "DATE", None),
        (datetime(2024, 1, 2), "DATE", None),
        (datetime(2024, 1, 2), "TIMESTAMP(6)", datetime(2024, 1, 2)),
        (datetime(2024, 1, 2), LOCAL, None),
        (datetime(2024, 1, 2, tzinfo=timezone.utc), "TIMESTAMP(6)", None),
        (date(2024, 1, 2), "TIMESTAMP(6)", None),
        # Spark casts a text to the type of the day or time.
        ("2024-01-02 03:04:05", "DATE", date(2024, 1, 2)),
        ("2024-01-02 23:04:05-11:00", "DATE", date(2024, 1, 2)),
        ("2024-01-02", "TIMESTAMP(6)", datetime(2024, 1, 2)),
        ("2024-01-02T03:04:05.678901", "TIMESTAMP(6)", datetime(2024, 1, 2, 3, 4, 5, 678901)),
        ("2024-01-02 03:04:05+02:00", "TIMESTAMP(6)", datetime(2024, 1, 2, 3, 4, 5)),
        ("2024-01-02 03:04:05+02:00", LOCAL, datetime(2024, 1, 2, 1, 4, 5, tzinfo=timezone.utc)),
        ("2024-01-02 03:04:05", LOCAL, None),  # the zone of the session says which instant it is
        ("2024-01-02", LOCAL, None),
        ("2024-01-02 03:04", "TIMESTAMP(6)", None),
        ("2024-01-02 25:04:05", "TIMESTAMP(6)", None),
        ("0000-01-02", "DATE", None),
        ("text", LOCAL, None),
        (b"a", "BYTES", None),
        (1, "ARRAY<INT>", None),
    ],
)
def test_comparable(value, kind, expected):
    data_type = parse_type({"type": "ARRAY", "element": "INT"} if kind.startswith("ARRAY") else kind)
    assert comparable(value, data_type) == expected


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (Decimal("5.0"), "INT", 5),
        (Decimal("5.5"), "INT", None),
        (5, "DECIMAL(10, 2)", Decimal("5.00")),
        (Decimal("5.001"), "DECIMAL(10, 2)", None),
        (
            Decimal("12345678901234567890123456789.5"),
            "DECIMAL(38, 2)",
            Decimal("12345678901234567890123456789.50"),
        ),
        (Decimal("1E+40"), "DECIMAL(38, 2)", None),
        (Decimal("0.00"), "DECIMAL(4, 4)", Decimal("0.0000")),
        (Decimal("99.99"), "DECIMAL(4, 2)", Decimal("99.99")),
        (Decimal(100), "DECIMAL(4, 2)", None),
        (2**31 - 1, "INT", 2**31 - 1),
        (2**31, "INT", None),
        (-(2**31), "INT", None),  # could be hashed, but all buckets are right too
        (2**63, "BIGINT", None),
        (128, "TINYINT", None),
        ("x", "STRING", "x"),
    ],
)
def test_key_value(value, kind, expected):
    assert key_value(value, parse_type(kind)) == expected


KEYED = schema_of({"a": "INT", "b": "STRING", "v": "INT"}, ["a", "b"], options={"bucket": "8"})


def bucket(a, b):
    return bucket_of((a, b), [f.type for f in KEYED.bucket_fields], 8)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (None, None),
        (Compare("a", "=", 1), None),
        (And((Compare("a", "=", 1), Compare("b", "=", "x"))), {bucket(1, "x")}),
        (And((Compare("A", "=", 1), In("B", ("x", "y")))), {bucket(1, "x"), bucket(1, "y")}),
        (And((Compare("a", "=", 1), Compare("b", "=", "x"), Compare("v", "=", 3))), {bucket(1, "x")}),
        (And((Compare("a", "=", "1"), Compare("b", "=", "x"))), None),
        (And((Compare("a", ">", 1), Compare("b", "=", "x"))), None),
        (Or((Compare("a", "=", 1), Compare("b", "=", "x"))), None),
        (And((In("a", tuple(range(100))), In("b", tuple("abcdefghijkl")))), None),  # too many combinations
        (And((In("a", ()), Compare("b", "=", "x"))), set()),
    ],
)
def test_buckets_of_key_equality(predicate, expected):
    assert buckets_for(predicate, KEYED, 8) == expected


def test_one_bucket_is_not_worth_a_hash():
    predicate = And((Compare("a", "=", 1), Compare("b", "=", "x")))
    assert buckets_for(predicate, KEYED, 1) is None


# -- soundness: a file that is pruned holds no row that matches ----------------------------------------------------

COLUMNS = {
    "id": "INT",
    "i": "INT",
    "d": "DECIMAL(6, 2)",
    "s": "STRING",
    "f": "DOUBLE",
    "day": "DATE",
    "ok": "BOOLEAN",
    "ts": "TIMESTAMP(6)",
}
VALUES = {
    "i": st.integers(-3, 3),
    "d": st.decimals(-3, 3, places=2),
    "s": st.sampled_from(["", "a", "b", "long" * 6 + "a", "long" * 6 + "b", "\U0010ffff" * 17, "é"]),
    "f": st.sampled_from([0.0, -1.5, 2.5, float("inf")]),
    "day": st.dates(date(2024, 1, 1), date(2024, 1, 5)),
    "ok": st.booleans(),
    "ts": st.datetimes(datetime(2024, 1, 1), datetime(2024, 1, 2)),
}
rows = st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()})


@st.composite
def predicates(draw, depth=2):
    if depth and draw(st.booleans()):
        children = tuple(draw(st.lists(predicates(depth - 1), min_size=1, max_size=3)))
        return draw(st.sampled_from([And, Or]))(children)
    column = draw(st.sampled_from([*VALUES, "id"]))
    values = VALUES.get(column, st.integers(0, 12))
    kind = draw(st.sampled_from(["compare", "in", "null", "not null"]))
    if kind == "compare":
        return Compare(column, draw(st.sampled_from(["=", "<", "<=", ">", ">="])), draw(values))
    if kind == "in":
        return In(column, tuple(draw(st.lists(values, max_size=3))))
    return (IsNull if kind == "null" else IsNotNull)(column)


def holds(predicate, row):
    """SQL's truth, with None (unknown) as False: enough, as there is no NOT."""
    if isinstance(predicate, And):
        return all(holds(c, row) for c in predicate.children)
    if isinstance(predicate, Or):
        return any(holds(c, row) for c in predicate.children)
    value = row[predicate.column]
    if isinstance(predicate, IsNull):
        return value is None
    if isinstance(predicate, IsNotNull):
        return value is not None
    if value is None:
        return False
    if isinstance(predicate, In):
        return value in predicate.values
    other = predicate.value
    return {
        "=": value == other,
        "<": value < other,
        "<=": value <= other,
        ">": value > other,
        ">=": value >= other,
    }[predicate.op]


@st.composite
def bounds(draw, column):
    """Bounds of a column in one file; a value that no row is known to have may be unknown alone."""
    least, greatest = sorted(draw(st.tuples(*[VALUES.get(column, st.integers(0, 12))] * 2)))
    rows, nulls = draw(st.integers(1, 4)), draw(st.sampled_from([None, -1, 0, 1, 2, 3, 4]))
    return Bounds(draw(st.sampled_from([least, None])), draw(st.sampled_from([greatest, None])), nulls, rows)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), predicates(), st.integers(0, 5), st.sets(st.sampled_from(sorted(COLUMNS))))
def test_many_files_are_decided_as_each_of_them(data, predicate, files, unknown):
    known = {
        column: (parse_type(kind), data.draw(st.lists(bounds(column), min_size=files, max_size=files)))
        for column, kind in COLUMNS.items()
        if column not in unknown
    }

    def of_all(column):
        if column not in known:
            return None
        kind, every = known[column]
        values = [(one.minimum, one.maximum, one.null_count, one.row_count) for one in every]
        return kind, ColumnBounds(*([one[at] for one in values] for at in range(4)))

    def of_one(number):
        return lambda column: (known[column][0], known[column][1][number]) if column in known else None

    assert each_may_match(predicate, files, of_all) == [may_match(predicate, of_one(number)) for number in range(files)]


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(rows, min_size=1, max_size=4), min_size=1, max_size=4),
    st.booleans(),
    predicates(),
    st.sampled_from([(), ("day",), ("s",), ("ok", "i")]),
)
def test_a_pruned_file_holds_no_row_that_matches(tmp_path_factory, batches, keyed, predicate, partition):
    keys = ["id", *partition] if keyed else []
    table = make_table(tmp_path_factory.mktemp("prune"), COLUMNS, keys, partition, {"bucket": "3"} if keyed else {})
    everything = []
    for batch in batches:
        numbered = [{**row, "id": i * 3} for i, row in enumerate(batch)]
        if keyed:
            numbered = [row for row in numbered if all(row[p] is not None for p in partition)]
        if numbered:
            write(table, numbered)
        everything += numbered
    if keyed:
        everything = list({tuple(row[k] for k in keys): row for row in everything}.values())

    def order(row):
        return repr(sorted(row.items()))

    expected = sorted((row for row in everything if holds(predicate, row)), key=order)
    found = sorted((row for row in table.to_arrow(predicate=predicate).to_pylist() if holds(predicate, row)), key=order)
    assert found == expected
