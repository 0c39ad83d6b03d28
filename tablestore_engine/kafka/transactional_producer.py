"""Sending messages: in one transaction for each snapshot, or without transactions before a commit.

Every message of a transaction names its snapshot in the header `tablestore-snapshot`. So the topic itself says which
snapshots it holds, and each is there wholly or not at all for consumers of committed messages.

Invariant: the producer of a `Publisher` has fenced all earlier ones of its topic before the topic was read. The
next publisher fences this one; then it fails, and nothing of its transaction is seen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import repeat
from operator import length_hint
from typing import Any

from tablestore_engine.errors import LogError
from tablestore_engine.kafka.client import SECONDS, UNREACHABLE, log_errors, plain_producer, transactional_producer
from tablestore_engine.kafka.encode_messages import Messages, texts_as_bytes
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.kafka.topics import brokers_answer, end_offsets, last_stable_offsets, no_topic, partitions_of
from tablestore_engine.recently_used import RecentlyUsed

HEADER, MARK_HEADER = "tablestore-snapshot", "tablestore-mark"
_ABORT_SECONDS = 1.0
_POLL_SECONDS = 0.5
_MARK_SECONDS = 0.005
_FULL_SECONDS = 0.1
_AT_ONCE = 2_000
"""Messages between two moments in which other threads and signals have their turn."""


class Publisher:
    """Publishes snapshots to one topic. After an error it is of no use any more."""

    def __init__(self, log: LogSettings) -> None:
        self._log = log
        self._producer = transactional_producer(log)
        with log_errors(log, f"Topic '{log.topic}' cannot be written to"):
            self._producer.init_transactions(SECONDS)

    def publish(self, snapshot: int, mark: str, messages: Iterable[Messages]) -> tuple[int, tuple[int, ...]]:
        """Send the messages of a snapshot in one transaction. Returns how many there were, and the offsets behind them.

        `mark` distinguishes it from another snapshot of the same number, as a table has that was restored.

        The offsets are read before the transaction ends: afterwards another writer may have sent its own messages.

        Raises:
            LogFencedError: another writer publishes to this topic.
            LogError: the brokers failed. Whether the transaction was committed is known when the topic is read again.
        """
        what = f"The changes of snapshot {snapshot} were not published to topic '{self._log.topic}'"
        with log_errors(self._log, what):
            headers = [(HEADER, str(snapshot).encode()), (MARK_HEADER, mark.encode())]
            self._producer.begin_transaction()
            try:
                sent = send(self._producer, self._log, messages, headers)
                self._flush(what)
                offsets = tuple(end_offsets(self._log))
                self._producer.commit_transaction(SECONDS)
            except BaseException:
                # The next publisher ends the transaction otherwise.
                with suppress(Exception):
                    self._producer.abort_transaction(_ABORT_SECONDS)
                raise
            self._await_end(offsets)
            return sent, offsets

    def _flush(self, what: str) -> None:
        """Wait until the brokers have all messages, as long as they take some."""
        producer = self._producer
        left, answered = len(producer), time.monotonic()
        while left:
            now = producer.flush(_POLL_SECONDS)
            if now < left:
                left, answered = now, time.monotonic()
            elif time.monotonic() - answered > SECONDS:
                failed = LogError(f"{what}: the brokers took no message for {SECONDS:.0f} s.")
                if not brokers_answer(self._log):
                    failed.code = UNREACHABLE
                elif not partitions_of(self._log):
                    raise no_topic(self._log)  # the client waits for topics to come
                raise failed

    def _await_end(self, offsets: tuple[int, ...]) -> None:
        """Brokers mark the end of a transaction some moments after its commit: only then is it read."""
        until = time.monotonic() + _POLL_SECONDS
        while time.monotonic() < until:
            ends = last_stable_offsets(self._log)
            if all(end >= offset for end, offset in zip(ends, offsets, strict=False)):
                return
            time.sleep(_MARK_SECONDS)

    def close(self) -> None:
        """Drop messages that are not sent."""
        with suppress(Exception):
            self._producer.purge()


def send(producer: Any, log: LogSettings, messages: Iterable[Messages], headers: Any, report: Any = None) -> int:
    """Pass messages to the client, which sends them on and reports on them. Returns how many there were."""
    count = 0
    for part in messages:
        values = texts_as_bytes(part.values)
        keys = texts_as_bytes(part.keys) if part.keys is not None else [None] * len(values)
        numbers = part.partitions.tolist()
        done, answered = 0, time.monotonic()
        while done < len(values):
            some = slice(done, done + _AT_ONCE)
            columns = values[some], keys[some], numbers[some]
            taken = _taken(producer.produce, log.topic, columns, (report, None, 0, headers))
            full = taken < len(columns[0])
            if taken:
                done, answered = done + taken, time.monotonic()
            elif time.monotonic() - answered > SECONDS:
                raise LogError(f"Topic '{log.topic}': the brokers took no message for {SECONDS:.0f} s.")
            producer.poll(_FULL_SECONDS if full else 0)
        count += done
    return count


def _taken(produce: Any, topic: str, columns: tuple[list[Any], list[Any], list[int]], same: tuple[Any, ...]) -> int:
    """How many messages fitted into the client's buffer. `same` are the arguments that all have."""
    values, keys, numbers = columns
    left = iter(values)
    calls = map(produce, repeat(topic), left, keys, numbers, *(repeat(one) for one in same))
    try:
        deque(calls, maxlen=0)
    except BufferError:
        return len(values) - length_hint(left) - 1
    return len(values)


def send_early(log: LogSettings, messages: Iterable[Messages]) -> int:
    """Send messages without a transaction, and wait until the brokers have them. Raises LogError."""
    what = f"Rows were not sent to topic '{log.topic}'"
    failed: list[Any] = []

    def report(error: Any, _: Any) -> None:
        failed.append(error)

    with log_errors(log, what):
        producer = plain_producer(log)
        sent = send(producer, log, messages, None, report)
        left = producer.flush(SECONDS)
    if left or failed:
        reason = failed[0].str() if failed else "the brokers did not take them in time"
        raise LogError(f"{what}: {reason}.")
    return sent


_open: RecentlyUsed[tuple[str, str], Publisher] = RecentlyUsed(8)


def publisher_of(log: LogSettings) -> tuple[Publisher, bool]:
    """The publisher of a topic, and whether this process has it from an earlier commit."""
    key = (log.servers, log.topic)
    found = _open.get(key)
    if found is not None:
        return found, True
    made = Publisher(log)
    _open.put(key, made)  # those that are dropped are not closed: other threads may use them
    return made, False


def forget_publisher(log: LogSettings) -> None:
    """The next publication of this process begins by fencing others, and by reading the topic."""
    found = _open.drop((log.servers, log.topic))
    if found is not None:
        found.close()
