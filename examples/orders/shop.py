"""A shop that is simulated: orders come, change and are cancelled, and each change is a message as Debezium writes it.

The shop keeps its orders in a dictionary of its own. The answers of the tables are compared with it at the end.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

OPENED = date(2026, 1, 1)
DAYS = 28
CUSTOMERS = 200
BEST = 3
"""So many of the best days of each country are in the top list."""
COUNTRIES = ("DE", "FR", "IT", "NL", "PL", "SE")


@dataclass(frozen=True)
class Order:
    """An order as it is now."""

    id: int
    customer: int
    day: date
    amount: Decimal

    def as_json(self) -> dict[str, object]:
        """The row of a message: decimals are texts (Debezium's `decimal.handling.mode=string`)."""
        return {"id": self.id, "customer": self.customer, "day": self.day.isoformat(), "amount": str(self.amount)}


@dataclass(frozen=True)
class Message:
    """A change: the key by which Kafka chooses the partition, and Debezium's envelope."""

    key: bytes
    value: bytes


def country_of(customer: int) -> str:
    """The country of a customer, as the seed `customers` has it."""
    return COUNTRIES[customer % len(COUNTRIES)]


class Shop:
    """The orders that there are, and the next changes of them."""

    def __init__(self, seed: int = 1) -> None:
        self.orders: dict[int, Order] = {}
        self._random = Random(seed)  # noqa: S311 - a simulation
        self._next = 1

    def changes(self, number: int, share: float) -> Iterator[Message]:
        """So many changes at once. share: how much of the shop's time has passed."""
        for _ in range(number):
            kind = self._random.random()
            if not self.orders or kind < 0.6:
                yield self._ordered(share)
            elif kind < 0.9:
                yield self._changed(self._any())
            else:
                yield self._cancelled(self._any())

    def _any(self) -> Order:
        """An order that may change: one of the last thousand, if it is still there."""
        number = self._random.randrange(max(1, self._next - 1000), self._next)
        return self.orders.get(number) or next(reversed(self.orders.values()))

    def _ordered(self, share: float) -> Message:
        day = OPENED + timedelta(days=min(DAYS - 1, int(share * DAYS)))
        new = Order(self._next, self._random.randrange(CUSTOMERS), day, self._amount())
        self._next += 1
        return self._set(None, new)

    def _changed(self, old: Order) -> Message:
        """Another amount; now and then the order belongs to another customer, and so to another country."""
        customer = self._random.randrange(CUSTOMERS) if self._random.random() < 0.2 else old.customer
        return self._set(old, Order(old.id, customer, old.day, self._amount()))

    def _cancelled(self, old: Order) -> Message:
        return self._set(old, None)

    def _amount(self) -> Decimal:
        return Decimal(self._random.randrange(500, 20_000)) / 100

    def _set(self, old: Order | None, new: Order | None) -> Message:
        one = new or old
        assert one is not None
        if new is None:
            del self.orders[one.id]
        else:
            self.orders[one.id] = new
        operation = "c" if old is None else "u" if new else "d"
        value = {"before": old and old.as_json(), "after": new and new.as_json(), "op": operation}
        return Message(json.dumps({"id": one.id}).encode(), json.dumps(value).encode())


Rows = set[tuple[object, ...]]


def recomputed(orders: dict[int, Order]) -> dict[str, Rows]:
    """The rows that each table must hold when it has all changes, computed from the orders alone."""
    counts: dict[tuple[date, str], int] = defaultdict(int)
    amounts: dict[tuple[date, str], Decimal] = defaultdict(Decimal)
    for one in orders.values():
        of = (one.day, country_of(one.customer))
        counts[of] += 1
        amounts[of] += one.amount
    top: Rows = set()
    for country in COUNTRIES:
        best = sorted((-amount, day) for (day, where), amount in amounts.items() if where == country)[:BEST]
        top |= {(country, number, day, -amount) for number, (amount, day) in enumerate(best, 1)}
    return {
        "orders": {(one.id, one.customer, one.day, one.amount) for one in orders.values()},
        "enriched_orders": {(one.id, country_of(one.customer), one.day, one.amount) for one in orders.values()},
        "daily_totals": {(day, country, counts[day, country], amounts[day, country]) for day, country in counts},
        "top_days": top,
    }


@dataclass(frozen=True)
class Answer:
    """A table, how many rows it has, how many it must have, and how many of both are different."""

    table: str
    rows: int
    expected: int
    different: int

    @property
    def right(self) -> bool:
        """Whether the table holds what it must."""
        return self.different == 0


def compare(held: dict[str, Rows], orders: dict[int, Order]) -> list[Answer]:
    """The tables against what was recomputed. A total of no orders is the same as none."""
    found = {**held, "daily_totals": {row for row in held["daily_totals"] if row[2]}}
    return [
        Answer(name, len(found[name]), len(rows), len(found[name] ^ rows)) for name, rows in recomputed(orders).items()
    ]
