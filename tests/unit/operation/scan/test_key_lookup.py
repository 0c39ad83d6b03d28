"""What a predicate demands of keys, and the keys of small files that satisfy it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from support.tables import schema_of

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.scan import key_lookup
from tablestore_engine.operation.scan.key_lookup import key_condition, matching_keys, pinned_keys
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, Or

KINDS = {"id": "INT", "name": "STRING", "amount": "DECIMAL(6, 2)", "day": "DATE", "v": "INT"}
SCHEMA = schema_of(KINDS, ["id", "name", "amount", "day"])
ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int32()),
        "name": ["a", "b", "c"],
        "amount": pa.array([Decimal("1.50"), Decimal("2.00"), Decimal("3.25")], pa.decimal128(6, 2)),
        "day": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3)],
        "v": pa.array([7, 7, 8], pa.int32()),
    }
)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (Compare("ID", "=", 2), [2]),
        (Compare("id", "<=", 2), [1, 2]),
        (Compare("id", ">", 1), [2, 3]),
        (In("id", (3, 1, 9)), [1, 3]),
        (Compare("name", ">=", "b"), [2, 3]),
        (Compare("amount", "=", 2), [2]),
        (Compare("amount", "<", Decimal("3.25")), [1, 2]),
        (Compare("day", "=", "2024-01-03"), [3]),
        (Compare("day", "<", date(2024, 1, 2)), [1]),
        (And((Compare("id", ">", 1), Compare("v", "=", 7))), [2, 3]),
        (And((Compare("id", ">", 1), Compare("name", "<", "c"))), [2]),
        (Or((Compare("id", "=", 1), Compare("name", "=", "c"))), [1, 3]),
    ],
)
def test_conditions_on_keys_are_found(predicate, expected):
    condition = key_condition(predicate, SCHEMA)
    assert condition is not None
    assert ROWS.filter(condition).column("id").to_pylist() == expected


@pytest.mark.parametrize(
    "predicate",
    [
        None,
        Compare("v", "=", 7),
        Compare("missing", "=", 7),
        IsNotNull("id"),
        Or((Compare("id", "=", 1), Compare("v", "=", 7))),
        And((Compare("v", "=", 1), IsNotNull("id"))),
        Compare("id", "=", "1"),
        Compare("id", "=", 1.0),
        Compare("id", "=", Decimal("1.5")),
        Compare("id", "<", 2**40),
        Compare("name", "=", 5),
        Compare("amount", "=", Decimal("1.555")),
        Compare("day", "=", datetime(2024, 1, 1)),
    ],
)
def test_other_predicates_give_no_condition_on_keys(predicate):
    assert key_condition(predicate, SCHEMA) is None


@pytest.fixture
def table(tmp_path):
    catalog = Catalog(tmp_path)
    catalog.create_table("default", "t", SCHEMA)
    table = catalog.load_table("default", "t")
    table.write(ROWS)
    table.write(ROWS)
    return table


def look_up(table, predicate):
    files = [(b, f) for b in table.scan().buckets for f in b.files]
    return matching_keys(table.state, files, predicate)


def test_keys_of_several_files_are_returned_once(table):
    keys = look_up(table, Compare("id", ">=", 2))
    assert keys.sort_by("id").to_pylist() == ROWS.slice(1).drop_columns(["v"]).to_pylist()
    assert look_up(table, Compare("id", "=", 9)).num_rows == 0
    assert look_up(table, Compare("v", "=", 7)) is None


def test_many_rows_are_not_read(table, monkeypatch):
    monkeypatch.setattr(key_lookup, "MAX_ROWS", 5)
    assert look_up(table, Compare("id", "=", 2)) is None
    monkeypatch.setattr(key_lookup, "MAX_ROWS", 6)
    assert look_up(table, Compare("id", "=", 2)).num_rows == 1
    monkeypatch.setattr(key_lookup, "MAX_FILES", 1)
    assert look_up(table, Compare("id", "=", 2)) is None


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (And((In("ID", (1, 2)), Compare("name", "=", "a"))), [(1, "a"), (2, "a")]),
        (And((Compare("id", "=", 1), In("name", ("a", "b")), Compare("v", ">", 1))), [(1, "a"), (1, "b")]),
        (Compare("id", "=", 1), None),
        (And((Compare("id", "=", 1), Compare("name", ">", "a"))), None),
        (And((Compare("id", "=", 2**40), Compare("name", "=", "a"))), None),
        (Or((And((Compare("id", "=", 1), Compare("name", "=", "a"))), Compare("id", "=", 2))), None),
        (None, None),
    ],
)
def test_keys_that_a_condition_pins(predicate, expected):
    found = pinned_keys(predicate, schema_of(KINDS, ["id", "name"]))
    rows = None if found is None else [tuple(row.values()) for row in found.values.to_pylist()]
    assert rows == expected
