"""Changed rows as messages: the value in debezium-json, the key as JSON of the primary key.

An update is one message. In the mode *all* it holds the rows before and after (`"op": "u"`). In the mode *upsert* it
holds the row after only, like an insert (`"op": "c"`), because readers of Debezium's format refuse an update without
the row before; a delete holds the removed row (`"op": "d"`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.kafka.json_encode import row_text
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows
from tablestore_engine.metadata.bucket_hash import bucket_ids

_INSERT, _BEFORE, _AFTER, _DELETE = range(4)
_OPENINGS = ('{"before":null,"after":', '{"before":', ',"after":', '{"before":')
_CLOSINGS = (',"op":"c"}', "", ',"op":"u"}', ',"after":null,"op":"d"}')
ROWS_AT_ONCE = 1 << 16
_BYTES_AT_ONCE = 32 << 20
Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Messages:
    """Messages of one log: texts of values and keys (None: no keys), and the number of the partition of each."""

    values: pa.Array
    keys: pa.Array | None
    partitions: npt.NDArray[np.int32]


def messages_of(changes: ChangelogRows, log: LogSettings) -> Iterator[Messages]:
    """The messages of changes, in their order; both rows of an update must follow each other."""
    for start, rows in _parts(changes):
        kinds = changes.kinds[start : start + rows.num_rows]
        batch = rows.combine_chunks().to_batches()[0]
        if not log.sends_before:
            # An update is its row after, which is sent like an inserted one.
            batch, kinds = _sent(batch, kinds), kinds[kinds != _BEFORE]
            kinds = np.where(kinds == _AFTER, _INSERT, kinds)
        values, sent = _values(batch, kinds), _sent(batch, kinds)
        keys = None
        if log.primary_keys:
            keys = row_text([sent.column(name) for name in log.primary_keys], log.primary_keys)
        yield Messages(values, keys, _partitions(sent, log))


def _parts(changes: ChangelogRows) -> Iterator[tuple[int, pa.Table]]:
    """The rows, some at a time, with the position of the first of each part; the rows of an update stay together."""
    start, total = 0, changes.rows.num_rows
    most = min(ROWS_AT_ONCE, max(1, _BYTES_AT_ONCE * total // (changes.rows.nbytes + 1)))
    while start < total:
        count = min(most, total - start)
        if changes.kinds[start + count - 1] == _BEFORE and start + count < total:
            count += 1
        yield start, changes.rows.slice(start, count)
        start += count


def _sent(batch: pa.RecordBatch, kinds: Kinds) -> pa.RecordBatch:
    """The rows that have messages of their own: not those before an update."""
    sent = kinds != _BEFORE
    return batch if sent.all() else batch.filter(pa.array(sent))


def _values(batch: pa.RecordBatch, kinds: Kinds) -> pa.Array:
    """The text of each message. Each row is a message or, in an update, a half of one."""
    texts = row_text(batch.columns, batch.schema.names, _by_kind(_OPENINGS, kinds), _by_kind(_CLOSINGS, kinds))
    starts = np.flatnonzero(kinds != _AFTER)
    if len(starts) == len(kinds):
        return texts
    # Both halves follow each other in memory already: the text of an update ends where the second one does.
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset :][np.append(starts, len(kinds))]
    return pa.StringArray.from_buffers(len(starts), pa.py_buffer(ends), content)


def _by_kind(texts: Sequence[str], kinds: Kinds) -> Any:
    """The text of each row; only one where all are the same."""
    first = kinds[0]
    return texts[first] if (kinds == first).all() else pa.array(texts).take(pa.array(kinds))


def _partitions(batch: pa.RecordBatch, log: LogSettings) -> npt.NDArray[np.int32]:
    if log.partitions == 1:
        return np.zeros(batch.num_rows, np.int32)
    arrays = [batch.column(one.name) for one in log.bucket_fields]
    return bucket_ids(arrays, [one.type for one in log.bucket_fields], log.partitions)


def texts_as_bytes(array: pa.Array) -> list[Any]:
    """Texts as Python's bytes, None for a null."""
    found: list[Any] = pc.cast(array, pa.binary()).to_numpy(zero_copy_only=False).tolist()
    return found
