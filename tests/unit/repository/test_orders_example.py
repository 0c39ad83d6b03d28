"""The simulated shop of the example: its messages give its orders, and a table that differs from them is noticed."""

from __future__ import annotations

import json
import sys
from datetime import date
from decimal import Decimal

import pytest
from support.repository import ROOT

EXAMPLE = str(ROOT / "examples" / "orders")


@pytest.fixture(scope="module")
def shop():
    sys.path.insert(0, EXAMPLE)
    try:
        import shop

        yield shop
    finally:
        sys.path.remove(EXAMPLE)


def test_the_messages_are_the_orders(shop):
    one, folded, kinds = shop.Shop(3), {}, set()
    for message in one.changes(2000, 0.5):
        value = json.loads(message.value)
        number = json.loads(message.key)["id"]
        assert value["before"] == folded.pop(number, None)
        kinds.add(value["op"])
        if value["after"]:
            folded[number] = value["after"]
    assert kinds == {"c", "u", "d"}
    assert folded == {number: order.as_json() for number, order in one.orders.items()}


def test_the_recomputation(shop):
    orders = {
        number: shop.Order(number, customer, date(2026, 1, day), Decimal(amount))
        for number, (customer, day, amount) in enumerate([(0, 1, 5), (6, 1, 6), (0, 2, 20), (1, 1, 7)], 1)
    }
    found = shop.recomputed(orders)
    assert found["daily_totals"] == {
        (date(2026, 1, 1), "DE", 2, 11),
        (date(2026, 1, 2), "DE", 1, 20),
        (date(2026, 1, 1), "FR", 1, 7),
    }
    assert found["top_days"] == {
        ("DE", 1, date(2026, 1, 2), 20),
        ("DE", 2, date(2026, 1, 1), 11),
        ("FR", 1, date(2026, 1, 1), 7),
    }
    assert (1, "DE", date(2026, 1, 1), 5) in found["enriched_orders"]


def test_a_table_that_differs_is_noticed(shop):
    one = shop.Shop(3)
    list(one.changes(200, 0.5))
    held = shop.recomputed(one.orders)
    assert all(answer.right for answer in shop.compare(held, one.orders))
    held["daily_totals"].add((date(2026, 1, 1), "XX", 0, Decimal(0)))
    assert all(answer.right for answer in shop.compare(held, one.orders)), "no orders are none"
    held["orders"].pop()
    wrong = [answer for answer in shop.compare(held, one.orders) if not answer.right]
    assert [(answer.table, answer.different) for answer in wrong] == [("orders", 1)]
