"""The topic of a table: made and deleted with it, and its messages are the changes of the table's snapshots."""

from __future__ import annotations

import datetime as dt
import json
import logging
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource
from support.kafka_broker import folded, messages
from support.tables import DELETE, PUT, arrow_rows, compact, keyed_arrow, reload

from tablestore_engine.catalog import Catalog
from tablestore_engine.catalog.log_topics import replaced_log
from tablestore_engine.errors import AlreadyExistsError, LogError
from tablestore_engine.kafka import transactional_producer
from tablestore_engine.operation.commit.change import LOG_SENT
from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log, restart_log

FIELDS = [{"id": 0, "name": "x", "type": "INT"}, {"id": 1, "name": "y", "type": "STRING"}]


def table_rows(table):
    """The rows by the text of their key, as a consumer of the topic would have them."""
    keys = table.schema.primary_keys
    found = reload(table).to_arrow().to_pylist()
    return {json.dumps({name: one[name] for name in keys}): one for one in found}


def upsert(table, *changes):
    """Write (id, v), or delete where v is None."""
    kinds = [DELETE if v is None else PUT for _, v in changes]
    table.write(arrow_rows(table.schema, [{"id": i, "v": v or 0} for i, v in changes], kinds))


def test_the_topic_has_a_partition_for_each_bucket_and_is_dropped(logged, broker, topic):
    table = logged(bucket="3", **{"log.retention": "2 h"})
    client = AdminClient({"bootstrap.servers": broker.servers})
    assert len(client.list_topics(topic, timeout=10).topics[topic].partitions) == 3
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    config = client.describe_configs([resource])[resource].result(10)
    assert config["retention.ms"].value == "7200000"
    for retention, millis in (("1 h", "3600000"), (None, "604800000")):  # without one, that of the brokers
        more = {} if retention is None else {"log.retention": retention}
        options = {key: text for key, text in table.schema.options.items() if key != "log.retention"} | more
        with replaced_log(table.state, replace(table.schema, options=options), list):
            pass
        assert client.describe_configs([resource])[resource].result(10)["retention.ms"].value == millis
    table.write(keyed_arrow(1, *range(30)))
    assert {one[0] for one in messages(broker.servers, topic)} == {0, 1, 2}
    with pytest.raises(AlreadyExistsError, match="exists already, with 3 partitions and messages"):
        logged(name="other", bucket="3")
    Catalog(table.path.rsplit("/", 2)[0]).drop_table("default", "t")
    assert topic not in client.list_topics(timeout=10).topics


@pytest.mark.parametrize("mode", ["auto", "all"])
def test_each_snapshot_is_one_transaction_and_folding_gives_the_table(logged, broker, topic, mode):
    table = logged(bucket="2", **{"log.changelog-mode": mode})
    upsert(table, *((i, 0) for i in range(10)))
    upsert(table, (1, 11), (2, None), (20, 5), (3, 0))  # 3 stays as it was
    compact(table)
    upsert(table, (20, None), (1, 12))
    assert folded(broker.servers, topic) == table_rows(table)
    sent = [value for _, _, _, value in messages(broker.servers, topic)]
    updates = [one for one in sent if one["after"] == {"id": 1, "v": 12}]
    before = {"id": 1, "v": 11} if mode == "all" else None
    assert updates == [{"before": before, "after": {"id": 1, "v": 12}, "op": "u" if mode == "all" else "c"}]
    assert [one["before"] for one in sent if one["op"] == "d"] == [{"id": 2, "v": 0}, {"id": 20, "v": 5}]
    assert len(sent) == 10 + 3 + 2
    assert publish_log(table.state).snapshots == 0


def test_every_type_is_json(logged, broker, topic):
    columns = {
        "id": "BIGINT", "s": "STRING", "b": "BOOLEAN", "f": "DOUBLE", "d": "DECIMAL(10, 2)", "day": "DATE",
        "at": "TIMESTAMP(6)", "zoned": "TIMESTAMP(3) WITH LOCAL TIME ZONE", "raw": "BYTES",
        "tags": {"type": "ARRAY", "element": "STRING"}, "m": {"type": "MAP", "key": "STRING", "value": "INT"},
        "r": {"type": "ROW", "fields": FIELDS},
    }  # fmt: skip
    table = logged(columns)
    moment = dt.datetime(2024, 2, 29, 12, 30, 1, 5)
    full = {
        "id": 1, "s": 'a "quoted" \\ text\n\x01é', "b": True, "f": 0.1, "d": Decimal("1.50"),
        "day": dt.date(2024, 2, 29), "at": moment, "zoned": moment.replace(tzinfo=dt.timezone.utc,
        microsecond=0), "raw": b"\x00\xffab", "tags": ["x", None], "m": {"k": 1, "n": None}, "r": {"x": 1, "y": "z"},
    }  # fmt: skip
    table.write(arrow_rows(table.schema, [full, {"id": 2}]))
    first, second = (one[3]["after"] for one in messages(broker.servers, topic))
    assert first == {
        "id": 1, "s": full["s"], "b": True, "f": 0.1, "d": 1.5, "day": "2024-02-29",
        "at": "2024-02-29 12:30:01.000005", "zoned": "2024-02-29 12:30:01.000Z", "raw": "AP9hYg==",
        "tags": ["x", None], "m": {"k": 1, "n": None}, "r": {"x": 1, "y": "z"},
    }  # fmt: skip
    assert second == {name: 2 if name == "id" else None for name in columns}


def test_a_table_without_key_publishes_every_row(logged, broker, topic):
    table = logged({"id": "INT", "v": "INT"}, keys=())
    one = {"id": 1, "v": 1}
    table.write(arrow_rows(table.schema, [one, one, {"id": 2, "v": 2}]))
    reload(table).write(arrow_rows(table.schema, [one], [DELETE]))
    sent = [
        (key, value["op"], value["after"] or value["before"]) for _, _, key, value in messages(broker.servers, topic)
    ]
    assert sorted(sent, key=str) == sorted(
        [(None, "c", one), (None, "c", one), (None, "c", {"id": 2, "v": 2}), (None, "d", one)], key=str
    )


def test_a_log_is_made_anew(logged, broker, topic):
    table = logged()
    table.write(keyed_arrow(1, 1, 2, 3))
    table.write(keyed_arrow(2, 2))
    done = restart_log(table.state)
    assert (done.messages, done.last) == (3, 2)
    assert folded(broker.servers, topic) == table_rows(table)
    assert len(messages(broker.servers, topic)) == 3
    table.write(keyed_arrow(3, 3))
    assert folded(broker.servers, topic) == table_rows(table)


def test_large_batches_keep_their_order(logged, broker, topic):
    table = logged(bucket="2")
    table.write(keyed_arrow(0, *range(40_000)))
    table.write(keyed_arrow(1, *range(0, 40_000, 2)))
    assert folded(broker.servers, topic) == table_rows(table)
    assert len(messages(broker.servers, topic)) == 60_000


def test_columns_come_and_go(logged, broker, topic):
    from tablestore_engine.schema.table.schema_changes import AddColumn
    from tablestore_engine.schema.types.types import parse_type

    table = logged()
    table.write(keyed_arrow(1, 1, 2))
    wider = table.alter(AddColumn("note", parse_type("STRING")))
    wider.write(pa.table({"id": pa.array([2], pa.int32()), "v": pa.array([2], pa.int32()), "note": ["new"]}))
    found = folded(broker.servers, topic)
    assert found['{"id": 1}'] == {"id": 1, "v": 1}
    assert found['{"id": 2}'] == {"id": 2, "v": 2, "note": "new"}


def failing(*_):
    raise LogError("the broker is ill.")


def test_eventual_rows_come_before_their_commit(logged, broker, topic):
    table = logged(bucket="2", **{"log.consistency": "eventual"})
    table.write(keyed_arrow(1, 1, 2, 3))
    table.write(arrow_rows(table.schema, [{"id": 2, "v": 0}, {"id": 3, "v": 5}], [DELETE, PUT]))
    compact(table)
    table.write(keyed_arrow(6, 4))
    assert folded(broker.servers, topic) == table_rows(table)
    sent = messages(broker.servers, topic)
    assert len(sent) == 6
    assert [LOG_SENT in (one.properties or {}) for one in reload(table).snapshots()] == [True, True, False, True]
    assert sorted(one["v"] for one in (row for batch in table.read_log() for row in batch.to_pylist())) == [1, 5, 6, 6]


def test_eventual_rows_come_after_their_commit_when_they_could_not_before(logged, broker, topic, monkeypatch, caplog):
    table = logged(**{"log.consistency": "eventual"})
    monkeypatch.setattr(transactional_producer, "send_early", failing)
    with caplog.at_level(logging.WARNING):
        table.write(keyed_arrow(1, 1, 2))
    assert "are published after their commit: the broker is ill" in caplog.text
    assert folded(broker.servers, topic) == table_rows(table)
    monkeypatch.undo()
    table.write(keyed_arrow(2, 2))
    assert folded(broker.servers, topic) == table_rows(table)


def test_eventual_rows_that_fail_may_fail_the_write(logged, monkeypatch):
    table = logged(**{"log.consistency": "eventual", "log.on-failure": "fail"})
    monkeypatch.setattr(transactional_producer, "send_early", failing)
    with pytest.raises(LogError, match="ill"):
        table.write(keyed_arrow(1, 1))
    assert reload(table).latest_snapshot() is None
