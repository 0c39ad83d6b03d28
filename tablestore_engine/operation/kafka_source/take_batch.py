"""The messages of a topic between two offsets as changed rows, for a query that turns them into the rows of a table.

Rows have `_row_kind` first. With a key there is one for each key: its newest row, or that it was deleted; a table that
is built anew gets the rows that are left, as inserted ones. Without a key they are all changes in the order of their
messages, an update as the row before and the row after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tablestore_engine.kafka.decode_messages import Wanted, decode
from tablestore_engine.kafka.message_formats import BEFORE, DELETE, INSERT, Kinds
from tablestore_engine.kafka.topics import first_offsets, last_stable_offsets
from tablestore_engine.operation.kafka_source.dead_letters import Letter, letters_of
from tablestore_engine.operation.kafka_source.rows_of_key_only import with_key_only_as_bad
from tablestore_engine.operation.kafka_source.source import KafkaSource, check_format, check_start, located
from tablestore_engine.operation.kafka_source.sync_topic import batches
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND

AT_ONCE = 200_000
_NUMBER = "__tablestore_number"


@dataclass(frozen=True)
class TopicNow:
    """A topic, with the id of its cluster, and the offsets of its first message and after its last one."""

    source: KafkaSource
    first: tuple[int, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True)
class TakenBatch:
    """Changed rows, and the messages that could not be read."""

    rows: pa.Table
    letters: tuple[Letter, ...] = ()


def wanted_rows(schema: pa.Schema, keys: Sequence[str], required: Sequence[str]) -> Wanted:
    """The rows that are asked for: columns, those of the key, and those that must not be null."""
    return Wanted(schema, tuple(keys), tuple(required), every_before=not keys)


def topic_now(source: KafkaSource, start: str, *, keyed: bool) -> TopicNow:
    """The range of committed messages that a topic holds now.

    Raises OptionError for an unknown format or start, and LogError when the brokers do not answer.
    """
    check_format(source.format, keyed=keyed)
    check_start(start)
    found = located(source)
    ends = last_stable_offsets(source.log)
    return TopicNow(found, tuple(first_offsets(source.log)), tuple(ends))


def up_to(starts: Sequence[int], ends: Sequence[int], most: int | None) -> tuple[int, ...]:
    """The ends, or nearer ones where there are more messages than asked for: of all partitions as many, about."""
    left = [end - start for start, end in zip(starts, ends, strict=True)]
    if most is None or sum(left) <= most:
        return tuple(ends)
    share = -(-most // sum(one > 0 for one in left))
    return tuple(start + min(one, share) for start, one in zip(starts, left, strict=True))


def take_batch(
    source: KafkaSource, starts: Sequence[int], ends: Sequence[int], wanted: Wanted, *, anew: bool = False
) -> TakenBatch:
    """The changes between offsets; with `anew` for a table without rows. Raises LogError."""
    parts, kinds, letters = [wanted.schema.empty_table()], [np.zeros(0, np.int8)], list[Letter]()
    if tuple(starts) != tuple(ends):
        for messages, _ in batches(source, starts, ends, AT_ONCE):
            values, keys = [one.value() for one in messages], [one.key() for one in messages]
            found = decode(source.format, values, keys, wanted)
            if wanted.every_before:
                found = with_key_only_as_bad(source.format, found, values, keys)
            parts.append(found.rows)
            kinds.append(found.kinds)
            letters += letters_of(found, messages)
    rows, all_kinds = pa.concat_tables(parts), np.concatenate(kinds)
    if wanted.keys:
        rows, all_kinds = _newest(rows, all_kinds, wanted.keys, anew)
    texts = pa.array(KINDS, pa.string()).take(pa.array(all_kinds))
    return TakenBatch(rows.add_column(0, ROW_KIND, texts), tuple(letters))


def _newest(rows: pa.Table, kinds: Kinds, keys: Sequence[str], anew: bool) -> tuple[pa.Table, Kinds]:
    """The last row of each key and its kind; the row before an update of the key means a delete."""
    numbered = rows.select(list(keys)).append_column(_NUMBER, pa.array(np.arange(rows.num_rows)))
    newest = numbered.group_by(list(keys)).aggregate([(_NUMBER, "max")]).column(f"{_NUMBER}_max").to_numpy()
    last = np.sort(newest).astype(np.int64)
    kinds = np.where(kinds[last] == BEFORE, DELETE, kinds[last])
    if anew:
        last = last[kinds != DELETE]
        kinds = np.full(len(last), INSERT, np.int8)
    return rows.take(pa.array(last)), kinds
