"""Publishing and taking rows cost little more than the client alone: ratios, measured on the same bytes."""

from __future__ import annotations

import os
import time

import pyarrow as pa
import pyarrow.compute
import pyarrow.json
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.tables import make_table

from tablestore_engine.log.producer import HEADER
from tablestore_engine.operation.changes import after_commit
from tablestore_engine.operation.ingest.source import KafkaSource
from tablestore_engine.operation.ingest.sync import SyncRules, sync_from_kafka
from tablestore_engine.operation.log_store.publish import publish_log

ROWS = int(os.environ.get("TABLESTORE_KAFKA_ROWS", "300000"))
PUBLISH_BAR, SYNC_BAR = 0.7, 0.5
COLUMNS = {"id": "BIGINT", "name": "STRING", "price": "DECIMAL(10, 2)", "at": "TIMESTAMP(6)", "n": "INT"}
pytestmark = pytest.mark.slow


def some_rows():
    numbers = pa.array(range(ROWS), pa.int64())
    return pa.table(
        {
            "id": numbers,
            "name": pa.compute.binary_join_element_wise("customer ", numbers.cast(pa.string()), ""),
            "price": pa.compute.divide(numbers.cast(pa.float64()), 7).cast(pa.decimal128(18, 2), safe=False).cast(
                pa.decimal128(10, 2)
            ),
            "at": pa.compute.multiply(numbers, 1_000_003).cast(pa.timestamp("us")),
            "n": numbers.cast(pa.int32()),
        }
    )  # fmt: skip


def consumed(servers, topic):
    """All messages of a topic."""
    client = Consumer({"bootstrap.servers": servers, "group.id": "bare", "enable.partition.eof": True,
                       "isolation.level": "read_committed", "log_level": 2})  # fmt: skip
    client.assign([TopicPartition(topic, 0, 0)])
    found = []
    while True:
        for one in client.consume(50_000, 1):
            if one.error() is None:
                found.append(one)
            elif one.error().code() == KafkaError._PARTITION_EOF:
                client.close()
                return found


def publish_bare(servers, topic, pairs):
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "bare", "linger.ms": 20,
                         "queue.buffering.max.messages": 1_000_000, "log_level": 2})  # fmt: skip
    producer.init_transactions(10)
    began = time.perf_counter()
    producer.begin_transaction()
    headers = [(HEADER, b"1")]
    for key, value in pairs:
        while True:
            try:
                producer.produce(topic, value, key, 0, headers=headers)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(60)
    producer.commit_transaction(30)
    return time.perf_counter() - began


def test_publishing(logged, broker, topic, monkeypatch):
    table = logged(COLUMNS)
    monkeypatch.setattr(after_commit, "FOLLOW_UPS", ())
    table.write(some_rows())
    began = time.perf_counter()
    done = publish_log(table.state)
    ours = time.perf_counter() - began
    assert done.messages == ROWS
    pairs = [(one.key(), one.value()) for one in consumed(broker.servers, topic)]
    client = AdminClient({"bootstrap.servers": broker.servers})
    client.create_topics([NewTopic("bare", 1)])["bare"].result(10)
    bare = publish_bare(broker.servers, "bare", pairs)
    print(f"published {ROWS / ours:,.0f} rows/s, the client alone {ROWS / bare:,.0f}: {bare / ours:.2f}")
    assert bare / ours >= PUBLISH_BAR


def test_taking(tmp_path, logged, broker, topic):
    table = logged(COLUMNS)
    table.write(some_rows())
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.decimal128(10, 2)),
                        ("at", pa.timestamp("us")), ("n", pa.int32())])  # fmt: skip
    options = pa.json.ParseOptions(explicit_schema=pa.schema([("after", pa.struct(list(schema))), ("op", pa.string())]))
    began = time.perf_counter()
    values = b"\n".join(one.value() for one in consumed(broker.servers, topic))
    read = pa.json.ReadOptions(block_size=1 << 28)
    parsed = pa.json.read_json(pa.BufferReader(values), read_options=read, parse_options=options)
    bare = time.perf_counter() - began
    assert parsed.num_rows == ROWS
    copy = make_table(tmp_path, COLUMNS, ["id"], name="copy")
    began = time.perf_counter()
    done = sync_from_kafka(copy.state, KafkaSource(topic, broker.servers), SyncRules())
    ours = time.perf_counter() - began
    assert done.rows == ROWS
    print(f"taken {ROWS / ours:,.0f} rows/s, parsed alone {ROWS / bare:,.0f}: {bare / ours:.2f}")
    assert bare / ours >= SYNC_BAR
