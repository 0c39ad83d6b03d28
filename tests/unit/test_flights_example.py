"""The example's deliveries, applied in order by a naive fold, give the published year without cancelled flights."""

from __future__ import annotations

import os
import sys

import pyarrow as pa
import pytest

EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "flights")


@pytest.fixture(scope="module")
def deliveries():
    sys.path.insert(0, EXAMPLE)
    try:
        import deliveries

        yield deliveries
    finally:
        sys.path.remove(EXAMPLE)


@pytest.fixture(scope="module")
def year(deliveries):
    return deliveries.published_year()


def _rows(table):
    return zip(*(table[name].to_pylist() for name in table.column_names), strict=True)


def test_folding_all_deliveries_gives_the_published_year(deliveries, year):
    told = {}
    width = len(deliveries.KEY)
    for delivery in deliveries.plan():
        for kind, *row in _rows(delivery.reports(year)):
            if kind == "cancellation":
                del told[tuple(row[:width])]
            else:
                told[tuple(row[:width])] = tuple(row)
    assert set(told.values()) == set(_rows(deliveries.not_cancelled(year)))


def test_sizes_are_foretold(deliveries, year):
    plan = deliveries.plan()
    sizes = list(deliveries.expected_sizes(year, plan))
    assert sizes[0] == 80_789
    assert sizes[-1] == deliveries.not_cancelled(year).num_rows == 328_521


def test_corrections_correct_something(deliveries, year):
    first, second = (delivery.reports(year) for delivery in deliveries.plan()[:2])
    width = len(deliveries.KEY)
    before = {tuple(row[:width]): row for _, *row in _rows(first)}
    corrections = [row for kind, *row in _rows(second) if kind == "correction"]
    assert all(before[tuple(row[:width])] != row for row in corrections)


def test_a_delivery_names_each_flight_once(deliveries, year):
    for delivery in deliveries.plan():
        reports = delivery.reports(year)
        assert isinstance(reports, pa.Table)
        assert reports.group_by(list(deliveries.KEY)).aggregate([]).num_rows == reports.num_rows
