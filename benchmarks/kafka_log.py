"""The cost of publishing a table to its log, and of taking changes from a topic, by that of the client alone.

    make bench-kafka

Publishing is compared with a producer that sends the same bytes in one transaction; taking changes, with reading the
same messages and parsing them. A broker of its own is started from the jars of `KAFKA_JARS`.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from support.kafka_broker import Broker

from benchmarks.measure import Report, once
from tablestore_engine.catalog import Catalog
from tablestore_engine.kafka.settings import settings_of
from tablestore_engine.kafka.transactional_producer import HEADER, forget_publisher, publisher_of
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.kafka_source.sync_topic import SyncRules, sync_from_kafka
from tablestore_engine.operation.log_store.unpublished_snapshots import publish_log
from tablestore_engine.operation.table_commands import after_commit
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.table import Table

COLUMNS = {"id": "BIGINT", "name": "STRING", "price": "DECIMAL(10, 2)", "at": "TIMESTAMP(6)", "n": "INT"}
PUBLISH_BAR, SYNC_BAR = 1.4, 2.0
OURS, BARE = "ours", "bare"
RUNS = 3  # of each, in turn; the least counts
_SHAPE = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.decimal128(10, 2)),
                    ("at", pa.timestamp("us")), ("n", pa.int32())])  # fmt: skip
_MESSAGE = pa.schema([("after", pa.struct(list(_SHAPE))), ("op", pa.string())])


def some_rows(count: int) -> pa.Table:
    """Rows of the table, by number."""
    numbers = pa.array(range(count), pa.int64())
    price = pc.divide(numbers.cast(pa.float64()), 7).cast(pa.decimal128(18, 2), safe=False)
    columns = [
        numbers,
        pc.binary_join_element_wise("customer ", numbers.cast(pa.string()), ""),
        price.cast(pa.decimal128(10, 2)),
        pc.multiply(numbers, 1_000_003).cast(pa.timestamp("us")),
        numbers.cast(pa.int32()),
    ]
    return pa.Table.from_arrays(columns, schema=_SHAPE)


def consumed(servers: str, topic: str) -> list:
    """All messages of a topic."""
    client = Consumer({"bootstrap.servers": servers, "group.id": BARE, "enable.partition.eof": True,
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


def publish_bare(producer: Producer, topic: str, pairs: list) -> None:
    """Send keys and values in one transaction."""
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


def parse_bare(servers: str, topic: str) -> None:
    """Read the messages of a table's topic, and parse them."""
    values = b"\n".join(one.value() for one in consumed(servers, topic))
    options = pa.json.ParseOptions(explicit_schema=_MESSAGE)
    pa.json.read_json(pa.BufferReader(values), read_options=pa.json.ReadOptions(1 << 28), parse_options=options)


def run(report: Report, catalog: Catalog, servers: str, count: int) -> None:
    """Add a line for publishing, and one for taking changes."""
    after_commit.FOLLOW_UPS = ()  # the rows are published when the clock runs
    client = AdminClient({"bootstrap.servers": servers})
    producer = Producer({"bootstrap.servers": servers, "transactional.id": BARE, "linger.ms": 20,
                         "queue.buffering.max.messages": 1_000_000, "log_level": 2})  # fmt: skip
    producer.init_transactions(10)
    ours, bare, pairs = [], [], []
    for number in range(RUNS):
        topic = f"{OURS}{number}"
        log = {"log.system": "kafka", "log.kafka.bootstrap.servers": servers, "log.kafka.topic": topic}
        table = _table(catalog, topic, log)
        table.write(some_rows(count))
        publisher_of(settings_of(table.schema))  # both clients are connected before the clock runs
        ours.append(once(lambda table=table: publish_log(table.state)))
        pairs = pairs or [(one.key(), one.value()) for one in consumed(servers, topic)]
        other = f"{BARE}{number}"
        client.create_topics([NewTopic(other, 1)])[other].result(10)
        bare.append(once(lambda other=other, pairs=pairs: publish_bare(producer, other, pairs)))
        forget_publisher(settings_of(table.schema))
    report.add(f"publish {count:,} rows ÷ the client alone", min(ours), min(bare), PUBLISH_BAR)
    topic = f"{OURS}0"
    parsed = min(once(lambda: parse_bare(servers, topic)) for _ in range(RUNS))
    taken = []
    for number in range(RUNS):
        copy = _table(catalog, f"copy{number}", {})
        source = KafkaSource(topic, servers)
        taken.append(once(lambda copy=copy, source=source: sync_from_kafka(copy.state, source, SyncRules())))
    report.add(f"take {count:,} rows from the topic ÷ read and parse them", min(taken), parsed, SYNC_BAR)


def _table(catalog: Catalog, name: str, options: dict[str, str]) -> Table:
    typed = [(column, parse_type(text), None) for column, text in COLUMNS.items()]
    return catalog.create_table("default", name, create_schema(typed, ["id"], (), options))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        broker = Broker(os.environ["KAFKA_JARS"], Path(work))
        try:
            run(Report(), Catalog(f"{work}/warehouse"), broker.servers, arguments.rows)
        finally:
            broker.stop()


if __name__ == "__main__":
    main()
