"""Casts of columns in predicates: which of them a scan may leave out."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tablestore_engine.operation.scan.cast_columns import without_casts
from tablestore_engine.operation.scan.stats_may_match import Bounds, may_match
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNull, OfCast, Or
from tablestore_engine.schema.types.types import parse_type

INT = parse_type("INT")


def resolved(own, to, value=5):
    schema = create_schema([("id", parse_type(own), None)])
    return without_casts(OfCast(Compare("ID", "=", value), parse_type(to)), schema)


@pytest.mark.parametrize(
    ("own", "to"),
    [
        ("INT", "INT"),
        ("INT NOT NULL", "INT"),
        ("TINYINT", "BIGINT"),
        ("BIGINT", "BIGINT"),
        ("INT", "DECIMAL(10, 0)"),
        ("BIGINT", "DECIMAL(19, 0)"),
        ("DECIMAL(5, 2)", "DECIMAL(7, 3)"),
    ],
)
def test_a_cast_that_keeps_all_values_is_left_out(own, to):
    assert resolved(own, to) == Compare("ID", "=", 5)


@pytest.mark.parametrize(
    ("own", "to", "value"),
    [
        ("BIGINT", "INT", 5),
        ("INT", "DECIMAL(9, 0)", 5),
        ("INT", "DECIMAL(10, 1)", 5),
        ("DECIMAL(5, 2)", "DECIMAL(6, 1)", 5),
        ("DECIMAL(5, 2)", "BIGINT", 5),
        ("INT", "DOUBLE", Decimal("5.00000000000000000001")),
        ("INT", "STRING", "5"),
        ("STRING", "INT", 5),
        ("TIMESTAMP(6)", "DATE", "2024-01-01"),
        ("INT", "BIGINT", "5"),
        ("INT", "DECIMAL(38, 0)", Decimal("0.5")),
    ],
)
def test_another_cast_is_unknown(own, to, value):
    assert resolved(own, to, value) is None


def test_texts_and_dates_are_compared_as_what_they_are():
    assert resolved("VARCHAR(3)", "STRING", "x") == Compare("ID", "=", "x")
    assert resolved("DATE", "DATE", "2024-01-01") == Compare("ID", "=", "2024-01-01")


def test_parts_that_are_unknown_are_left_out_of_and_only():
    schema = create_schema([("id", INT, None), ("v", INT, None)])
    known, other = OfCast(In("id", (1, 2)), parse_type("BIGINT")), OfCast(Compare("v", "=", 1), parse_type("STRING"))
    assert without_casts(And((known, other)), schema) == In("id", (1, 2))
    assert without_casts(Or((known, other)), schema) is None
    assert without_casts(Or((known, OfCast(IsNull("v"), INT))), schema) == Or((In("id", (1, 2)), IsNull("v")))
    assert without_casts(OfCast(IsNull("gone"), INT), schema) is None


def test_a_scan_keeps_rows_for_a_cast_that_it_does_not_know():
    assert may_match(OfCast(Compare("id", "=", 5), INT), lambda column: (INT, Bounds(1, 2, 0, 10)))
