"""Columns whose values distinguish rows, by statistics."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from support.tables import schema_of

from tablestore_engine.operation.scan.discriminating_columns import discriminating_columns, narrower
from tablestore_engine.operation.scan.multiset_file_overlap import Values

COLUMNS = {
    "id": "BIGINT",
    "part": "INT",
    "price": "DECIMAL(15, 2)",
    "wide": "DECIMAL(38, 0)",
    "day": "DATE",
    "at": "TIMESTAMP(6)",
    "flag": "BOOLEAN",
    "name": "STRING",
    "weight": "DOUBLE",
    "tags": {"type": "ARRAY", "element": "INT"},
}
ALL = tuple(COLUMNS)


def between(low, high, *, nulls=False):
    return Values(low, high, nulls)


ID, PART = between(0, 2**21 - 1), between(1, 2**18)
PRICE = between(Decimal("0.00"), Decimal("167772.15"))  # 24 bits
DAY, FLAG = between(date(2024, 1, 1), date(2024, 12, 31)), between(False, True)


@pytest.mark.parametrize(
    ("known", "chosen"),
    [
        # Wide ranges first, and no more columns than it takes.
        ({"id": ID, "part": PART, "price": PRICE, "day": DAY}, ("price", "id", "part")),
        ({"id": ID, "price": between(Decimal(0), Decimal("1342177.27"))}, ("price", "id")),
        # A single column is not trusted, however wide it is.
        ({"id": between(0, 2**62), "part": PART}, ("id", "part")),
        ({"id": between(0, 2**62)}, ALL),
        ({"at": between(datetime(2024, 1, 1), datetime(2024, 3, 1)), "part": PART}, ("at", "part")),
        # Nulls do not distinguish rows, so such columns come last.
        ({"id": between(0, 2**40, nulls=True), "part": PART, "price": PRICE}, ("price", "part", "id")),
        ({"id": between(None, None, nulls=True), "part": PART, "price": PRICE}, ALL),
        # No more than four columns.
        ({"id": between(0, 255), "part": between(0, 127), "day": DAY, "flag": FLAG, "price": PRICE}, ALL),
        # What is dear to look at, or of unknown range, is looked at only with all the others.
        ({"name": between("a", "z"), "weight": between(0.0, 1e300), "wide": between(Decimal(0), Decimal(10**37))}, ALL),
        ({}, ALL),
    ],
)
def test_columns_that_distinguish_rows(known, chosen):
    assert discriminating_columns(schema_of(COLUMNS).fields, known) == chosen


def test_columns_worth_a_condition():
    files = {"id": between(0, 1000), "part": between(0, 1000), "day": DAY, "flag": FLAG, "name": between("a", "z")}
    removed = {
        "id": between(10, 20),
        "part": between(0, 900),
        "day": between(date(2024, 5, 1), date(2024, 5, 2)),
        "flag": between(False, False),
        "name": between("b", "b"),
        "price": PRICE,
    }
    assert list(narrower(removed, files)) == ["id", "day"]
    assert narrower({"id": between(10, 20, nulls=True)}, files) == {}
    assert narrower({"id": between(None, None, nulls=True)}, files) == {}
