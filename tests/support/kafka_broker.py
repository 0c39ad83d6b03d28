"""A plain Kafka client that folds a topic, and the broker of the example, on which tests and benchmarks run."""

from __future__ import annotations

import json
import time

from confluent_kafka import Consumer, KafkaError, TopicPartition

from examples.orders.broker import Broker

__all__ = ["Broker", "folded", "messages"]


def messages(servers: str, topic: str, isolation: str = "read_committed") -> list[tuple[int, int, object, object]]:
    """All messages of a topic: partition, offset, key and value, parsed; in the order of each partition."""
    client = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "plain",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "log_level": 2,
        }
    )
    numbers = sorted(client.list_topics(topic, timeout=10).topics[topic].partitions)
    client.assign([TopicPartition(topic, number, 0) for number in numbers])
    left, found = set(numbers), []
    until = time.monotonic() + 30
    while left and time.monotonic() < until:
        for one in client.consume(1000, 0.2):
            if one.error() is None:
                key = one.key()
                value = json.loads(one.value())
                found.append((one.partition(), one.offset(), key and json.dumps(json.loads(key)), value))
            elif one.error().code() == KafkaError._PARTITION_EOF:
                left.discard(one.partition())
    client.close()
    assert not left, f"partitions {left} of {topic} did not end"
    return found


def folded(servers: str, topic: str) -> dict[object, object]:
    """The rows that a consumer has which knows nothing of the engine: the last value of each key."""
    rows: dict[object, object] = {}
    for _, _, key, value in messages(servers, topic):
        if value["op"] == "d":
            assert key in rows, f"{key} is deleted twice"
            del rows[key]
        else:
            rows[key] = value["after"]
    return rows
