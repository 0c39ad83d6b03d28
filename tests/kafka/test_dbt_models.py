"""dbt models that read a topic: each message counts once, whatever dies."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from dbt.tests.fixtures.project import *  # noqa: F403 - dbt's fixtures
from dbt.tests.util import run_dbt, run_dbt_and_capture
from support.dbt_models import store_of
from support.spark_settings import FEW_ROWS

from dbt.adapters.tablestore.models.kafka_changes_since_last_run import ModelTopics
from tablestore_engine.operation.commit.commit import Committer

COLUMNS = "columns: [{name: id, data_type: int}, {name: customer, data_type: string}, {name: amount, data_type: int}]"
ORDERS = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key='id',
          on_expired=var('on_expired')) }}
select * from {{ kafka_changes(source('shop', 'orders')) }}
"""
TOTALS = """
{{ config(materialized='incremental', incremental_strategy='append', primary_key='customer',
          merge_engine='aggregation', fields={'n': 'sum', 'amount': 'sum'}) }}
select customer, sum({{ row_sign() }}) as n, sum(amount * {{ row_sign() }}) as amount
from {{ changes_of }} group by customer
"""
BY_ORDERS = TOTALS.replace("changes_of", "changes(ref('orders'))")
BY_MESSAGES = TOTALS.replace("changes_of", "kafka_changes(source('shop', 'messages'))")


@pytest.fixture(scope="class")
def dbt_profile_target(tmp_path_factory):
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    return {"type": "tablestore", "warehouse": warehouse, "threads": 4, "master": "local[2]", "spark_config": FEW_ROWS}


class Shop:
    """A topic of orders, as Debezium writes them, and what they are."""

    def __init__(self, servers, topic):
        self.servers, self.topic, self.orders = servers, topic, {}
        self.client = AdminClient({"bootstrap.servers": servers})
        if topic in self.client.list_topics(timeout=10).topics:
            self.client.delete_topics([topic])[topic].result(10)
            while topic in self.client.list_topics(timeout=10).topics:
                pass
        self.client.create_topics([NewTopic(topic, 2)])[topic].result(10)
        self.producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})

    def order(self, number, customer=None, amount=None):
        """A new or changed order; without a customer, it is deleted."""
        before = self._row(number)
        self.orders.pop(number, None)
        if customer is not None:
            self.orders[number] = (customer, amount)
        after = self._row(number)
        op = "d" if after is None else "u" if before else "c"
        self.send(number % 2, json.dumps({"before": before, "after": after, "op": op}).encode())

    def send(self, partition, value, key=None):
        self.producer.produce(self.topic, value, key, partition)
        assert self.producer.flush(10) == 0

    def _row(self, number):
        if number not in self.orders:
            return None
        customer, amount = self.orders[number]
        return {"id": number, "customer": customer, "amount": amount}

    @property
    def totals(self):
        found = {}
        for customer, amount in self.orders.values():
            n, total = found.get(customer, (0, 0))
            found[customer] = (n + 1, total + amount)
        return found


@pytest.fixture
def store(project):
    return store_of(project)


def orders(store):
    return {row["id"]: (row["customer"], row["amount"]) for row in store.table("orders").to_arrow().to_pylist()}


def totals(store, name):
    found = store.table(name).to_arrow().to_pylist()
    return {row["customer"]: (row["n"], row["amount"]) for row in found if row["n"]}


class TestChain:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"vars": {"on_expired": "error"}}

    @pytest.fixture(scope="class")
    def models(self, only_broker):
        sources = (
            f"sources: [{{name: shop,"
            f" config: {{meta: {{kafka: {{servers: '{only_broker.servers}', topic: dbt-orders}}}}}},"
            f" tables: [{{name: orders, config: {{meta: {{kafka: {{key: id, dead_letters: bad}}}}}}, {COLUMNS}}},"
            f" {{name: messages, config: {{meta: {{kafka: {{start: earliest}}}}}}, {COLUMNS}}}]}}]"
        )
        return {
            "sources.yml": sources,
            "orders.sql": ORDERS,
            "by_orders.sql": BY_ORDERS,
            "by_messages.sql": BY_MESSAGES,
        }

    @pytest.fixture
    def shop(self, broker, project):
        return Shop(broker.servers, "dbt-orders")

    def check(self, store, shop):
        assert orders(store) == shop.orders
        assert totals(store, "by_orders") == totals(store, "by_messages") == shop.totals

    def test_each_message_counts_once(self, project, store, shop, monkeypatch):
        for number in range(6):
            shop.order(number, "ab"[number % 2], 10 + number)
        shop.order(1, "a", 100)
        shop.order(0)
        run_dbt(["run", "--full-refresh"])
        self.check(store, shop)
        shop.order(1, "b", 1)
        shop.order(1, "c", 2)
        shop.order(7, "a", 7)
        shop.order(7)
        shop.order(2)
        run_dbt(["run"])
        self.check(store, shop)
        names = ("orders", "by_orders", "by_messages")
        before = [store.table(name).latest_snapshot().id for name in names]
        run_dbt(["run"])
        assert [store.table(name).latest_snapshot().id for name in names] == before, "nothing is new"

        # Runs that die before and after the commit.
        shop.order(8, "c", 8)
        for owner, method in ((Committer, "_publish"), (ModelTopics, "keep")):
            with monkeypatch.context() as patched:
                patched.setattr(owner, method, dies)
                run_dbt(["run", "--exclude", "by_orders"], expect_pass=False)
        run_dbt(["run"])
        self.check(store, shop)
        store.execute("call sys.compact(table => 'orders')")
        shop.order(9, "c", 8)
        _, out = run_dbt_and_capture(["run-operation", "tablestore_lag"])
        assert "orders <- shop.orders (topic dbt-orders): 1 message behind" in out
        run_dbt(["compile"])
        _, out = run_dbt_and_capture(["show", "--select", "orders", "--output", "json", "--log-format", "json"])
        assert '\\"_row_kind\\": \\"+I\\"' in out or '"_row_kind": "+I"' in out
        run_dbt(["run"])
        self.check(store, shop)
        run_dbt(["run", "--full-refresh"])
        self.check(store, shop)

    def test_a_run_that_was_overtaken_writes_nothing(self, project, store, shop, monkeypatch):
        shop.order(1, "a", 1)
        run_dbt(["run", "--full-refresh"])
        shop.order(2, "a", 2)
        attempt, others = Committer._attempt, []

        def overtaken(self, latest, change, *rest):
            if change.consumed and not others:
                others.append(attempt(self, latest, replace(change, added=(), index=None), *rest))
                latest = self.snapshots.latest()
            return attempt(self, latest, change, *rest)

        monkeypatch.setattr(Committer, "_attempt", overtaken)
        results = run_dbt(["run", "--select", "by_messages"], expect_pass=False)
        assert "meanwhile another write" in results.results[0].message
        assert totals(store, "by_messages") == {"a": (1, 1)}

    def test_messages_that_cannot_be_read(self, project, store, shop):
        shop.order(1, "a", 1)
        run_dbt(["run", "--full-refresh"])
        shop.send(0, b"{no json", b"key")
        shop.order(2, "a", 2)
        results = run_dbt(["run", "--select", "orders", "by_messages"], expect_pass=False)
        by_model = {one.node.name: one for one in results.results}
        assert by_model["orders"].status == "success"
        assert orders(store) == shop.orders
        assert "offset 0 of partition 0" in by_model["by_messages"].message
        assert "dead_letters" in by_model["by_messages"].message
        assert totals(store, "by_messages") == {"a": (1, 1)}
        (letter,) = store.table("bad").to_arrow().to_pylist()
        assert (letter["message_key"], letter["message"], letter["kafka_offset"]) == ("key", "{no json", 0)

    def test_messages_that_were_deleted_are_noticed(self, project, store, shop):
        shop.order(2, "a", 2)
        run_dbt(["run", "--full-refresh"])
        for amount in range(3):
            shop.order(2, "a", amount)
        for future in shop.client.delete_records([TopicPartition("dbt-orders", 0, 3)]).values():
            future.result(10)
        (result,) = run_dbt(["run", "--select", "orders"], expect_pass=False).results
        assert "were deleted before" in result.message
        assert "--full-refresh" in result.message
        run_dbt(["run", "--select", "orders", "--vars", "on_expired: full_refresh"])
        assert orders(store) == shop.orders


class TestWithoutAKey:
    """All changes of messages that hold only a part of the row before, in a model without a key."""

    MODEL = """
{{ config(materialized='incremental', incremental_strategy='changelog') }}
select * from {{ kafka_changes(source('shop', 'NAME')) }}
"""

    @pytest.fixture(scope="class")
    def models(self, only_broker):
        strict = COLUMNS.replace("data_type: string}", "data_type: string, constraints: [{type: not_null}]}")
        tables = ", ".join(
            f"{{name: {name}, config: {{meta: {{kafka: {{dead_letters: bad_{name}}}}}}}, {columns}}}"
            for name, columns in (("lenient", COLUMNS), ("strict", strict))
        )
        meta = f"{{kafka: {{servers: '{only_broker.servers}', topic: dbt-parts}}}}"
        return {
            "sources.yml": f"sources: [{{name: shop, config: {{meta: {meta}}}, tables: [{tables}]}}]",
            **{f"{name}.sql": self.MODEL.replace("NAME", name) for name in ("lenient", "strict")},
        }

    def test_a_part_of_a_row_is_a_dead_letter_or_refused(self, project, store, broker):
        shop = Shop(broker.servers, "dbt-parts")

        def send(number, **message):
            key = json.dumps({"id": number}).encode()
            shop.send(0, json.dumps({"before": None, "after": None, **message}).encode(), key)

        def held(name):
            return sorted(row["id"] for row in store.table(name).to_arrow().to_pylist())

        first, second = ({"id": number, "customer": "a", "amount": number} for number in (1, 2))
        send(1, after=first, op="c")
        send(2, after=second, op="c")
        send(1, before={"id": 1}, op="d")
        run_dbt(["run"])
        assert held("lenient") == held("strict") == [1, 2]
        send(1, before={"id": 1}, after={**first, "amount": 5}, op="u")
        send(3, after={**second, "id": 3}, op="c")
        run_dbt(["run"])
        assert held("lenient") == held("strict") == [1, 2, 3]
        for name in ("lenient", "strict"):
            reasons = {one["kafka_offset"]: one["reason"] for one in store.table(f"bad_{name}").to_arrow().to_pylist()}
            assert sorted(reasons) == [2, 3]
            why = "only the columns of the key: id" if name == "lenient" else "column 'customer' is null"
            assert all(why in one for one in reasons.values())

        # With nulls, it reads as a row. Where these are not allowed, it is bad; else it is noticed by the write.
        send(1, before={"id": 1, "customer": None, "amount": None}, op="d")
        send(2, before=second, op="d")
        results = run_dbt(["run"], expect_pass=False)
        by_model = {one.node.name: one for one in results.results}
        assert held("strict") == [1, 3]
        assert by_model["lenient"].status == "error"
        assert "take away a row that table" in by_model["lenient"].message
        assert "'id': 1, 'customer': None" in by_model["lenient"].message
        assert held("lenient") == [1, 2, 3]


def dies(*args):
    raise RuntimeError("killed")


NEW = {"id": 1, "customer": "a", "amount": 1}
OLD = {"id": 2, "customer": "b", "amount": 2}
MESSAGES = {
    "debezium-json": ({"before": None, "after": NEW, "op": "c"}, {"before": OLD, "after": None, "op": "d"}),
    "ogg-json": ({"after": NEW, "op_type": "I"}, {"before": OLD, "op_type": "D"}),
    "canal-json": ({"data": [NEW], "type": "INSERT"}, {"data": [OLD], "type": "DELETE"}),
    "maxwell-json": ({"data": NEW, "type": "insert"}, {"data": OLD, "type": "delete"}),
    "json": (NEW, OLD),
    "upsert-json": (NEW, None),
}


class TestFormats:
    @pytest.fixture(scope="class")
    def models(self, only_broker):
        tables = ", ".join(
            f"{{name: {name}, config: {{meta: {{kafka: {{topic: dbt-{name}, format: {name}, key: id}}}}}}, {COLUMNS}}}"
            for name in MESSAGES
        )
        model = "{{{{ config(materialized='table') }}}} select id, customer, amount from"
        model += " {{{{ kafka_changes(source('shop', '{}')) }}}}"
        return {
            "sources.yml": f"sources: [{{name: shop, config: {{meta: {{kafka: {{servers: '{only_broker.servers}'}}}}}},"
            f" tables: [{tables}]}}]",
            **{f"{name.replace('-', '_')}.sql": model.format(name) for name in MESSAGES},
        }

    def test_each_format(self, project, store, broker):
        for name, messages in MESSAGES.items():
            shop = Shop(broker.servers, f"dbt-{name}")
            for number, message in enumerate(messages, 1):
                value = None if message is None else json.dumps(message).encode()
                shop.send(0, value, json.dumps({"id": number}).encode())
        run_dbt(["run"])
        for name in MESSAGES:
            found = {row["id"]: row for row in store.table(name.replace("-", "_")).to_arrow().to_pylist()}
            assert found == {1: NEW, **({2: OLD} if name == "json" else {})}, name
