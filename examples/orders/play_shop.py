"""Plays a shop's stream of changes through the dbt project next to this file: `make demo-stream`.

A thread is the shop: it sends changes of orders to a Kafka broker, which this process starts. Meanwhile dbt runs again
and again, in this process, so Spark starts once. When the time is over, a last run takes the rest, and the tables are
compared with what the shop knows of its orders. The exit code is 0 only if they agree.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from typing import Any

from broker import Broker
from live import Screen, State
from shop import Answer, Rows, Shop, compare

PROJECT = os.path.dirname(os.path.abspath(__file__))
MARKER = ".made-by-the-orders-demo"
TOPIC = "shop.orders"
PARTITIONS = 3
PAUSE = 0.1
CHANGES_AT_ONCE = 40
COLUMNS = {
    "orders": ("id", "customer", "day", "amount"),
    "enriched_orders": ("id", "country", "day", "amount"),
    "daily_totals": ("day", "country", "orders", "amount"),
    "top_days": ("country", "rank_number", "day", "amount"),
}


class DbtFailed(Exception):
    """A run that did not pass; the arguments are dbt's messages."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Play a shop's stream of changes through Kafka and dbt.")
    parser.add_argument("--folder", default="target/demo-stream", help="where tables and logs go")
    parser.add_argument("--jars", required=True, help="the folder of the broker's jars")
    parser.add_argument("--seconds", type=float, default=100.0, help="how long the shop is open")
    given = parser.parse_args()
    folder = os.path.abspath(given.folder)
    _clear(folder)
    with tempfile.TemporaryDirectory(prefix="shop-broker-") as scratch:
        broker = Broker(os.path.abspath(given.jars), Path(scratch))
        try:
            return _play(folder, broker.servers, given.seconds)
        finally:
            broker.stop()


def _clear(folder: str) -> None:
    """Start from nothing. Only a folder that an earlier play made, or an empty one, is emptied."""
    if os.path.isdir(folder) and os.listdir(folder):
        if not os.path.exists(os.path.join(folder, MARKER)):
            raise SystemExit(f"{folder} holds something else; choose another --folder.")
        shutil.rmtree(folder)
    os.makedirs(folder)
    Path(folder, MARKER).touch()


def _play(folder: str, servers: str, seconds: float) -> int:
    os.environ["SHOP_WAREHOUSE"] = os.path.join(folder, "warehouse")
    os.environ["SHOP_KAFKA"] = servers
    screen, state, shop = Screen(), State(seconds), Shop()
    screen.opening(servers, seconds)
    _make_topic(servers)
    closed, began = Event(), time.monotonic()
    failed: list[BaseException] = []
    trade = Thread(target=_trade, args=(shop, servers, state, closed, failed), name="shop", daemon=True)
    trade.start()
    try:
        with screen.moving(state):
            _dbt(folder, "seed")
            while time.monotonic() - began < seconds and not failed:
                _run(folder, state, screen, began)
            closed.set()
            trade.join()
            _run(folder, state, screen, began)
    except DbtFailed as error:
        screen.failure([str(one) for one in error.args], os.path.join(folder, "logs", "dbt.log"))
        return 1
    finally:
        closed.set()
        trade.join()
    if failed:
        raise failed[0]
    answers = _answers(shop)
    screen.closing(state, answers)
    return 0 if state.lag == 0 and all(one.right for one in answers) else 1


def _make_topic(servers: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    client = AdminClient({"bootstrap.servers": servers})
    client.create_topics([NewTopic(TOPIC, PARTITIONS)])[TOPIC].result(30)


def _trade(shop: Shop, servers: str, state: State, closed: Event, failed: list[BaseException]) -> None:
    """Send changes until the shop is closed."""
    from confluent_kafka import Producer

    try:
        quiet = {"log_level": 2}
        producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 20, **quiet})
        began = time.monotonic()
        while not closed.is_set():
            state.elapsed = time.monotonic() - began
            for one in shop.changes(CHANGES_AT_ONCE, state.elapsed / state.seconds):
                producer.produce(TOPIC, one.value, one.key)
                state.sent += 1
            producer.poll(0)
            closed.wait(PAUSE)
        if producer.flush(30):
            raise RuntimeError("The broker did not take all messages.")
    except BaseException as error:
        failed.append(error)


def _run(folder: str, state: State, screen: Screen, began: float) -> None:
    """One run of the chain, and what the tables say after it."""
    start = time.monotonic()
    _dbt(folder, "run")
    now = time.monotonic()
    with state.lock:
        state.runs, state.last_run, state.elapsed = state.runs + 1, now - start, now - began
        state.taken = _taken()
        held = {name: _rows(name) for name in ("daily_totals", "top_days")}
        state.orders, state.totals = _totals(held["daily_totals"])
        state.best = {str(row[0]): f"{row[2]}  {row[3]:,.2f}" for row in held["top_days"] if row[1] == 1}
    screen.ran(state)


def _dbt(folder: str, command: str) -> None:
    """A command of dbt on this project. Raises DbtFailed with its messages."""
    from dbt.cli.main import dbtRunner

    projects = ["--project-dir", PROJECT, "--profiles-dir", PROJECT]
    folders = ["--target-path", os.path.join(folder, "dbt"), "--log-path", os.path.join(folder, "logs")]
    quiet = ["--log-level", "none", "--log-level-file", "debug"]
    outcome = dbtRunner().invoke([command, *projects, *folders, *quiet])
    if not outcome.success:
        raise DbtFailed(*_messages(outcome))


def _messages(outcome: Any) -> Iterator[str]:
    if outcome.exception is not None:
        yield str(outcome.exception)
    for result in getattr(outcome.result, "results", None) or ():
        if result.status in ("error", "fail", "runtime error"):
            yield f"{result.node.unique_id}: {result.message}"


def _table(name: str) -> Any:
    """A table of the demo, read without Spark."""
    from tablestore_engine import TableStore

    return TableStore(os.environ["SHOP_WAREHOUSE"], database="shop").table(name)


def _rows(name: str) -> Rows:
    found = _table(name).to_arrow().select(list(COLUMNS[name])).to_pylist()
    return {tuple(row.values()) for row in found}


def _taken() -> int:
    """How many messages are in the table of orders: its snapshot says so."""
    properties = _table("orders").latest_snapshot().properties or {}
    texts = [text for key, text in properties.items() if key.startswith(f"tablestore.consumed.kafka:{TOPIC}@")]
    return sum(int(text.partition("/")[0]) for text in texts)


def _totals(rows: Rows) -> tuple[int, dict[str, tuple[int, Decimal]]]:
    """The number of orders, and orders and turnover of each country."""
    counts: dict[str, int] = defaultdict(int)
    amounts: dict[str, Decimal] = defaultdict(Decimal)
    for _, country, orders, amount in rows:
        counts[str(country)] += int(str(orders))
        amounts[str(country)] += Decimal(str(amount))
    return sum(counts.values()), {country: (counts[country], amounts[country]) for country in counts}


def _answers(shop: Shop) -> list[Answer]:
    return compare({name: _rows(name) for name in COLUMNS}, shop.orders)


if __name__ == "__main__":
    sys.exit(main())
