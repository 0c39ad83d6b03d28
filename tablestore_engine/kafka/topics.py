"""Topics: made with one partition for each bucket and the retention asked for, deleted, and how far they are filled."""

from __future__ import annotations

import time
from typing import Any

from tablestore_engine.errors import AlreadyExistsError, LogError
from tablestore_engine.kafka.client import SECONDS, admin, kafka, log_errors
from tablestore_engine.kafka.settings import LogSettings

_RETENTION = "retention.ms"
_ALREADY_EXISTS = "TOPIC_ALREADY_EXISTS"
_UNKNOWN = ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION")
_NOT_ALLOWED = "TOPIC_AUTHORIZATION_FAILED"
_REMOVAL_SECONDS = 10.0
_PROBE_SECONDS = 2.0


def create_topic(log: LogSettings) -> bool:
    """Make the topic of a log. Returns whether there was one, which is taken: it is empty and has the same shape.

    Raises:
        AlreadyExistsError: a topic of this name has messages, or other partitions.
        LogError: the brokers cannot be reached, or refuse.
    """
    client = admin(log)
    config = {} if log.retention_millis is None else {_RETENTION: str(log.retention_millis)}
    new = kafka().admin.NewTopic(log.topic, num_partitions=log.partitions, config=config)
    try:
        with log_errors(log, f"Topic '{log.topic}' was not made"):
            client.create_topics([new], request_timeout=SECONDS, operation_timeout=SECONDS)[log.topic].result(SECONDS)
    except LogError as error:
        if error.code != _ALREADY_EXISTS:
            raise
        _take(log)
        return True
    _await_leaders(log)
    return False


def _take(log: LogSettings) -> None:
    found = partitions_of(log)
    ends = end_offsets(log)
    if found != log.partitions or any(ends):
        raise AlreadyExistsError(
            f"Topic '{log.topic}' exists already, with {found} partitions"
            f"{' and messages' if any(ends) else f', and the table needs {log.partitions}'}.",
            hint="Name another one by 'log.kafka.topic', or delete it.",
        )
    if log.retention_millis is not None:
        set_retention(log)


def set_retention(log: LogSettings) -> None:
    """Give a topic the retention of a log; without one that of the brokers. Raises LogError."""
    api, millis = kafka().admin, log.retention_millis
    entry = api.ConfigEntry(
        _RETENTION,
        None if millis is None else str(millis),
        incremental_operation=api.AlterConfigOpType.DELETE if millis is None else api.AlterConfigOpType.SET,
    )
    resource = api.ConfigResource(api.ConfigResource.Type.TOPIC, log.topic, incremental_configs=[entry])
    with log_errors(log, f"The retention of topic '{log.topic}' was not set"):
        for future in admin(log).incremental_alter_configs([resource], request_timeout=SECONDS).values():
            future.result(SECONDS)


def _await_leaders(log: LogSettings) -> None:
    """A topic can be used some moments after it was made."""
    until = time.monotonic() + SECONDS
    while partitions_of(log) < log.partitions:
        if time.monotonic() > until:
            raise LogError(f"Topic '{log.topic}' was made, but has no leader yet.")
        time.sleep(0.05)


def delete_topic(log: LogSettings) -> None:
    """Delete a topic with its messages, and wait until its name is free; nothing when there is none."""
    try:
        with log_errors(log, f"Topic '{log.topic}' was not deleted"):
            admin(log).delete_topics([log.topic], request_timeout=SECONDS, operation_timeout=SECONDS)[log.topic].result(
                SECONDS
            )
    except LogError as error:
        if error.code not in _UNKNOWN:
            raise
        return
    until = time.monotonic() + _REMOVAL_SECONDS
    while partitions_of(log) and time.monotonic() < until:
        time.sleep(0.05)


def grow_topic(log: LogSettings) -> bool:
    """Add the partitions that the buckets of a table need, and say whether there were any."""
    if partitions_of(log) >= log.partitions:
        return False
    more = kafka().admin.NewPartitions(log.topic, log.partitions)
    with log_errors(log, f"Topic '{log.topic}' got no more partitions"):
        admin(log).create_partitions([more], request_timeout=SECONDS)[log.topic].result(SECONDS)
    _await_leaders(log)
    return True


def partitions_of(log: LogSettings) -> int:
    """How many usable partitions a topic has; 0 when there is no such topic. Raises LogError."""
    with log_errors(log, f"Topic '{log.topic}' was not found"):
        found = admin(log).list_topics(log.topic, timeout=SECONDS).topics.get(log.topic)
        if found is not None and found.error is not None and found.error.name() == _NOT_ALLOWED:
            raise kafka().KafkaException(found.error)
    if found is None or found.error is not None:
        return 0
    return sum(one.leader >= 0 for one in found.partitions.values())


def brokers_answer(log: LogSettings) -> bool:
    """Whether the brokers answer at all, whatever they say of the topic."""
    try:
        admin(log).list_topics(log.topic, timeout=_PROBE_SECONDS)
    except kafka().KafkaException:
        return False
    return True


def cluster_of(log: LogSettings) -> str:
    """The id of the cluster that the brokers belong to; empty if they do not have one. Raises LogError."""
    with log_errors(log, f"The cluster of topic '{log.topic}' was not found"):
        return admin(log).list_topics(log.topic, timeout=SECONDS).cluster_id or ""


def topic_id_of(log: LogSettings) -> str:
    """The id of a topic, which no other one of its name has; empty when there is no such topic. Raises LogError."""
    wanted = kafka().TopicCollection([log.topic])
    try:
        with log_errors(log, f"Topic '{log.topic}' was not found"):
            found = admin(log).describe_topics(wanted, request_timeout=SECONDS)[log.topic].result(SECONDS)
    except LogError as error:
        if error.code not in _UNKNOWN:
            raise
        return ""
    return str(found.topic_id)


def end_offsets(log: LogSettings) -> list[int]:
    """The offset after the last message of each partition, whether its transaction has ended or not."""
    return _offsets(log, kafka().admin.OffsetSpec.latest())


def last_stable_offsets(log: LogSettings) -> list[int]:
    """The offset up to which the transactions of each partition have ended."""
    return _offsets(log, kafka().admin.OffsetSpec.latest(), committed=True)


def first_offsets(log: LogSettings) -> list[int]:
    """The offset of the oldest message that is kept in each partition."""
    return _offsets(log, kafka().admin.OffsetSpec.earliest())


def offsets_at(log: LogSettings, millis: int) -> list[int]:
    """The offset of the first message of each partition that is not older than a time; after the last one if none."""
    found = _offsets(log, kafka().admin.OffsetSpec.for_timestamp(millis))
    ends = end_offsets(log)
    return [end if one < 0 else one for one, end in zip(found, ends, strict=True)]


def _offsets(log: LogSettings, spec: Any, *, committed: bool = False) -> list[int]:
    api = kafka()
    levels = api.IsolationLevel
    numbers = range(partitions_of(log))
    if not numbers:
        raise no_topic(log)
    wanted = {api.TopicPartition(log.topic, number): spec for number in numbers}
    level = levels.READ_COMMITTED if committed else levels.READ_UNCOMMITTED
    with log_errors(log, f"The offsets of topic '{log.topic}' were not read"):
        answers = admin(log).list_offsets(wanted, isolation_level=level, request_timeout=SECONDS)
        by_number = {one.partition: int(future.result(SECONDS).offset) for one, future in answers.items()}
    return [by_number[number] for number in numbers]


def no_topic(log: LogSettings) -> LogError:
    """The error for a topic that is not there."""
    return LogError(
        f"There is no topic '{log.topic}' on {log.servers}.",
        hint="CALL sys.publish_log(table => '…', restart => true) makes the log of a table anew.",
    )
