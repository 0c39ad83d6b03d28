"""A table of messages that could not be read: where they were, what they said, and why they are of no use.

Its key is topic, partition and offset of a message, so a message that is written again replaces itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tablestore_engine.errors import UserError
from tablestore_engine.kafka.decode_messages import Decoded
from tablestore_engine.operation.kafka_source.source import KafkaSource
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.schema.table.create_schema import Column, create_schema
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage import clock
from tablestore_engine.table_state import TableState

DEAD_LETTER_KEY = ("topic", "kafka_partition", "kafka_offset")
DEAD_LETTER_COLUMNS: tuple[Column, ...] = tuple(
    (name, parse_type(kind), None)
    for name, kind in (
        ("topic", "STRING"),
        ("kafka_partition", "INT"),
        ("kafka_offset", "BIGINT"),
        ("message_key", "STRING"),
        ("message", "STRING"),
        ("reason", "STRING"),
        ("synced_at", "TIMESTAMP(3)"),
    )
)


Letter = tuple[Any, str]
"""A message, and the reason why it cannot be read."""


def dead_letter_schema(now: int) -> TableSchema:
    """The schema of a new table of such messages."""
    return create_schema(DEAD_LETTER_COLUMNS, DEAD_LETTER_KEY, time_millis=now)


def letters_of(found: Decoded, messages: Sequence[Any]) -> list[Letter]:
    """The messages that could not be decoded, each once, with the first reason."""
    reasons = {one.position: one.reason for one in reversed(found.bad)}
    return [(messages[at], why) for at, why in sorted(reasons.items())]


def refuse_letters(source: KafkaSource, letters: Sequence[Letter], hint: str) -> None:
    """Raise a UserError that names the first of these messages."""
    message, reason = letters[0]
    raise UserError(
        f"The message at offset {message.offset()} of partition {message.partition()} of topic "
        f"'{source.topic}' cannot be read as {source.format}: {reason}.",
        hint=hint,
    )


def write_dead_letters(state: TableState, letters: Sequence[Letter]) -> None:
    """Store messages, each with the reason why it is there."""
    now = clock.now_millis()
    rows = [
        (one.topic(), one.partition(), one.offset(), _text(one.key()), _text(one.value()), reason, now)
        for one, reason in letters
    ]
    types = (pa.string(), pa.int32(), pa.int64(), pa.string(), pa.string(), pa.string(), pa.timestamp("ms"))
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), types, strict=True)]
    write_arrow(state, pa.table(arrays, names=[name for name, _, _ in DEAD_LETTER_COLUMNS]))


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")
