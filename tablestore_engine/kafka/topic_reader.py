"""Reading committed messages of a topic from given offsets, in chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from tablestore_engine.errors import LogError
from tablestore_engine.kafka.client import SECONDS, consumer, kafka, log_errors
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.kafka.topics import last_stable_offsets, partitions_of
from tablestore_engine.kafka.transactional_producer import HEADER, MARK_HEADER

_AT_ONCE = 50_000
_POLL_SECONDS = 0.5
_CHECK_SECONDS = 5.0


@dataclass(frozen=True)
class Chunk:
    """Messages as the client gives them, and the offset of each partition after them."""

    messages: tuple[Any, ...]
    offsets: tuple[int, ...]


def read_between(log: LogSettings, starts: Sequence[int], ends: Sequence[int] | None) -> Iterator[Chunk]:
    """The committed messages from `starts` up to `ends`; without them, for ever.

    A chunk may be empty: then nothing came for a while, or only markers of transactions were passed.

    Raises:
        LogError: messages have expired, the topic was removed or got more partitions, or the brokers do not answer for
            a while.
    """
    api, what = kafka(), f"Topic '{log.topic}' was not read"
    now = list(starts)
    with log_errors(log, what), closing(consumer(log)) as client:
        left = {n for n, start in enumerate(starts) if ends is None or start < ends[n]}
        client.assign([api.TopicPartition(log.topic, number, now[number]) for number in sorted(left)])
        answered = checked = time.monotonic()
        while left:
            found = []
            if ends is None and time.monotonic() - checked > _CHECK_SECONDS:
                _check_partitions(log, len(starts))
                checked = time.monotonic()
            for message in client.consume(_AT_ONCE, _POLL_SECONDS):
                answered = time.monotonic()
                number, error = message.partition(), message.error()
                # Messages behind the end belong to the next reader: they are neither given nor passed.
                end = ends[number] if ends is not None else None
                if error is None:
                    if end is None or message.offset() < end:
                        found.append(message)
                    reached = message.offset() + 1
                elif error.code() == api.KafkaError._PARTITION_EOF:
                    reached = max(now[number], message.offset())
                else:
                    raise api.KafkaException(error)
                now[number] = reached if end is None else min(reached, end)
                if now[number] == end:
                    left.discard(number)
            if ends is not None and not found and time.monotonic() - answered > SECONDS:
                raise LogError(f"{what}: the brokers sent nothing for {SECONDS:.0f} s.")
            yield Chunk(tuple(found), tuple(now))


def _check_partitions(log: LogSettings, known: int) -> None:
    if partitions_of(log) > known:
        raise LogError(
            f"Topic '{log.topic}' got more partitions than the {known} that are read: its table was replaced.",
            hint="Begin anew, with the table as it is now.",
        )


def newest_snapshot(log: LogSettings, offsets: Sequence[int]) -> tuple[int, str]:
    """The newest snapshot of which the topic holds messages from `offsets` on, and its mark; 0 for none."""
    newest, ends = (0, ""), last_stable_offsets(log)
    starts = [*offsets, *[0] * (len(ends) - len(offsets))]
    # A transaction takes two offsets or more: a single offset is the end of the transaction before.
    starts = [end if end - start < 2 else start for start, end in zip(starts, ends, strict=True)]
    for chunk in read_between(log, starts, ends) if starts != ends else ():
        for message in chunk.messages:
            newest = max(newest, (snapshot_of(message), _header(message, MARK_HEADER)))
    return newest


def snapshot_of(message: Any) -> int:
    """The snapshot whose change a message is; 0 for one that names none."""
    return int(_header(message, HEADER) or 0)


def _header(message: Any, wanted: str) -> str:
    """The text of a header; empty without one."""
    found = (value for name, value in message.headers() or () if name == wanted and value is not None)
    return str(next(found, b""), "utf-8")
