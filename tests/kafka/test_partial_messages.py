"""Messages that hold a part of a row, by format, kind of message and kind of table: a table stays readable and goes on,
and says what it left out.
"""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from support.tables import compact, make_table, reload

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import UserError
from tablestore_engine.operation.kafka_source.dead_letters import dead_letter_schema
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.kafka_source.sync_topic import SyncRules, sync_from_kafka

COLUMNS = {"id": "INT", "v": "INT", "s": "STRING"}
NULLS, DEFAULTS = {"v": None, "s": None}, {"v": 0, "s": ""}
NO_ROW = "it removes a row that the table does not have, {'id': 1"
WITH_BEFORE = ("debezium-json", "ogg-json")
CHANGES = (*WITH_BEFORE, "canal-json", "maxwell-json")


def row(number, **more):
    return {"id": number, "v": number, "s": "x", **more}


def message(form, old, new):
    """A message by which a row becomes another one; None for no row."""
    kind = 0 if old is None else 2 if new is None else 1
    if form in WITH_BEFORE:
        name, words = ("op", "cud") if form == "debezium-json" else ("op_type", "IUD")
        return {"before": old, "after": new, name: words[kind]}
    changed = {name: one for name, one in old.items() if new.get(name) != one} if kind == 1 else None
    data, word = (old if new is None else new), ("insert", "update", "delete")[kind]
    if form == "canal-json":
        return {"data": [data], "old": None if changed is None else [changed], "type": word.upper()}
    return {"data": data, "old": changed, "type": word}


def partial_messages(form):
    """Each with the row 1 after it in a table with a key, and why it is bad in one without (None: it is not)."""
    new, first = row(1, v=100), "before" if form in WITH_BEFORE else "old"
    yield message(form, {"id": 1}, None), None, NO_ROW
    yield message(form, {"id": 1, **NULLS}, None), None, NO_ROW
    yield message(form, {"id": 1, **DEFAULTS}, None), None, NO_ROW
    yield message(form, {"id": 1, **NULLS}, new), new, NO_ROW
    yield message(form, {"id": 1, **DEFAULTS}, new), new, NO_ROW
    if form in WITH_BEFORE:
        yield message(form, {"id": 1}, new), new, NO_ROW
    yield {**message(form, row(1), new), first: None}, new, "an update lacks"
    yield message(form, row(1), row(1, v=None)), row(1, v=None), None


class Synced:
    """A topic, a table that takes its messages one by one, and the table of bad ones."""

    def __init__(self, folder, servers, topic, form, keys, **options):
        client = AdminClient({"bootstrap.servers": servers})
        client.create_topics([NewTopic(topic, 1)])[topic].result(10)
        self.source = KafkaSource(topic, servers, form)
        self.table = make_table(folder, COLUMNS, keys, options=options)
        self._letters = Catalog(str(folder)).create_table("default", "bad", dead_letter_schema(0))
        self._producer = Producer({"bootstrap.servers": servers})
        self.sent = 0

    def send(self, *messages):
        for one in messages:
            value, key = one if isinstance(one, tuple) else (one, None)
            self._producer.produce(self.source.topic, None if value is None else json.dumps(value).encode(), key, 0)
            self.sent += 1
        assert self._producer.flush(10) == 0

    def take(self, *messages, batch=1, letters=True):
        self.send(*messages)
        rules = SyncRules(batch=batch, dead_letters=self._letters.state if letters else None)
        return sync_from_kafka(reload(self.table).state, self.source, rules)

    @property
    def rows(self):
        return sorted(reload(self.table).to_arrow().to_pylist(), key=lambda one: one["id"])

    @property
    def letters(self):
        return {one["kafka_offset"]: one["reason"] for one in reload(self._letters).to_arrow().to_pylist()}


@pytest.mark.parametrize("keys", [(), ("id",)], ids=["keyless", "keyed"])
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
@pytest.mark.parametrize("form", CHANGES)
def test_a_part_of_a_row_is_enough_or_a_dead_letter(tmp_path, broker, topic, form, keys, together):
    synced = Synced(tmp_path, broker.servers, topic, form, keys)
    synced.take(message(form, None, row(1)), message(form, None, row(2)), batch=10)
    expected = {}
    for number, (partial, after, reason) in enumerate(partial_messages(form)):
        at = synced.sent
        good = message(form, None, row(10 + number)), message(form, row(2), row(2, v=-number)), message(
            form, row(2, v=-number), row(2)
        )  # fmt: skip
        synced.take(partial, *good, batch=10 if together else 1)
        refused = not keys and reason is not None
        if refused:
            expected[at] = reason
        now = row(1) if refused else after
        assert synced.rows == [*([now] if now else []), row(2), *(row(10 + one) for one in range(number + 1))]
        assert {one: why[: len(expected[one])] for one, why in synced.letters.items()} == expected
        if now != row(1):
            synced.take(message(form, now, row(1)))
    compact(reload(synced.table))
    assert len(synced.rows) == 2 + number + 1


@pytest.mark.parametrize("keys", [(), ("id",)], ids=["keyless", "keyed"])
@pytest.mark.parametrize("form", CHANGES)
def test_a_change_without_its_row_is_a_dead_letter(tmp_path, broker, topic, form, keys):
    where = "before" if form in WITH_BEFORE else "data"
    after = "after" if form in WITH_BEFORE else "data"
    bad = [{**message(form, row(1), None), where: None}, {**message(form, row(1), row(1, v=5)), after: None}]
    if form == "canal-json":  # such a message has no rows at all
        bad = [{**one, "data": [None]} for one in bad]
    synced = Synced(tmp_path, broker.servers, topic, form, keys)
    synced.take(message(form, None, row(1)), *bad, message(form, None, row(2)))
    assert synced.rows == [row(1), row(2)]
    assert sorted(synced.letters) == [1, 2]


def test_without_a_table_for_bad_messages_nothing_is_committed(tmp_path, broker, topic):
    synced = Synced(tmp_path, broker.servers, topic, "debezium-json", ())
    synced.take(message("debezium-json", None, row(1)))
    before = reload(synced.table).latest_snapshot().id
    with pytest.raises(UserError, match=r"offset 2 .*removes a row that the table does not have.*dead_letters"):
        synced.take(message("debezium-json", None, row(2)), message("debezium-json", {"id": 1}, None),
                    batch=10, letters=False)  # fmt: skip
    assert (reload(synced.table).latest_snapshot().id, synced.rows) == (before, [row(1)])
    synced.take(message("debezium-json", row(1), None))
    assert synced.rows == [row(2)]


def test_a_chain_of_updates_without_its_first_row_is_left_out(tmp_path, broker, topic):
    """A chain of updates whose first one is bad: none of them is applied, in one batch or in many."""
    synced = Synced(tmp_path, broker.servers, topic, "debezium-json", ())
    chain = [message("debezium-json", row(1, v=n), row(1, v=n + 1)) for n in range(50)]
    moved = message("debezium-json", row(1, v=50), None)
    done = synced.take(message("debezium-json", None, row(2)), *chain, moved, batch=30)
    assert (done.bad, synced.rows) == (51, [row(2)])
    assert sorted(synced.letters) == list(range(1, 52))


@pytest.mark.parametrize("form", CHANGES)
def test_an_aggregation_takes_back_the_row_before(tmp_path, broker, topic, form):
    """Sums by `s` of rows that change, move and go are those of the rows that there are."""
    sums = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    synced = Synced(tmp_path, broker.servers, topic, form, ("s",), **sums, **{"fields.id.ignore-retract": "true"})
    rng, rows, messages = random.Random(form), {}, []
    for number in range(120):
        old = rows.pop(number % 13, None)
        new = row(number % 13, v=rng.randrange(100), s=rng.choice("ab")) if rng.random() < 0.8 else None
        if new is not None:
            rows[number % 13] = new
        if (old or new) and old != new:
            messages.append(message(form, old, new))
    update = message(form, row(1, s="a"), row(1, v=2, s="a"))
    messages.append({**update, ("before" if form in WITH_BEFORE else "old"): None})
    synced.take(*messages, batch=50)
    totals = Counter()
    for one in rows.values():
        totals[one["s"]] += one["v"]
    assert {one["s"]: one["v"] for one in reload(synced.table).to_arrow().to_pylist()} == totals
    assert list(synced.letters.values()) == [
        f"an update lacks its row in '{'after' if form in WITH_BEFORE else 'data'}', or "
        + ("the whole row in 'before'" if form in WITH_BEFORE else "the values before in 'old'")
    ]


@pytest.mark.parametrize("too", [False, True], ids=["max", "max and sum"])
def test_functions_that_take_no_value_back(tmp_path, broker, topic, too):
    """The row after an update is enough for a maximum; with a sum next to it, the update is a letter."""
    most = {"merge-engine": "aggregation", "fields.v.aggregate-function": "max"}
    if too:
        most |= {"fields.v.aggregate-function": "sum", "fields.s.aggregate-function": "max"}
    synced = Synced(tmp_path, broker.servers, topic, "debezium-json", ("id",), **most)
    synced.take(message("debezium-json", None, row(1, v=5)))
    if too:
        synced.take(message("debezium-json", row(1, v=5), row(1, v=3)))
        (reason,) = synced.letters.values()
        assert "column 's' cannot take back a value" in reason
    else:
        synced.take(message("debezium-json", row(1, v=5), row(1, v=3)), message("debezium-json", row(1), row(1, v=7)))
    assert [one["v"] for one in synced.rows] == [5 if too else 7]


def test_json_and_deletes_by_key_are_as_they_were(tmp_path, broker, topic):
    rows = Synced(tmp_path / "a", broker.servers, f"{topic}-1", "json", ())
    rows.take({"id": 1}, {"id": 2, "v": None}, (None, b'{"id":1}'), {"id": 1})
    assert ([one["id"] for one in rows.rows], rows.letters) == ([1, 1, 2], {})
    upserts = Synced(tmp_path / "b", broker.servers, f"{topic}-2", "upsert-json", ("id",))
    upserts.take(({"id": 1}, b'{"id":1}'), ({"id": 2}, b'{"id":2}'), (None, b'{"id":1}'), (None, b"{}"))
    assert [one["id"] for one in upserts.rows] == [2]
    assert list(upserts.letters) == [3]
