"""Reading a table through its log: its rows at one snapshot, then the changes of the topic, without gap or overlap.

The position of the log names a snapshot and offsets behind its changes, so `full` is the rows of that snapshot and
the messages from these offsets on. Messages of snapshots that the rows hold already are left out by their header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.errors import LogError, OptionError, SnapshotNotFound
from tablestore_engine.kafka.decode_messages import Decoded, Wanted, decode
from tablestore_engine.kafka.settings import LogSettings, required_settings
from tablestore_engine.kafka.topic_reader import Chunk, read_between, snapshot_of
from tablestore_engine.kafka.topics import first_offsets, last_stable_offsets, offsets_at, partitions_of
from tablestore_engine.operation.changelog.log_position import noted_position, restart_hint
from tablestore_engine.operation.log_store.normalize import Normalizer
from tablestore_engine.operation.log_store.unpublished_snapshots import has_changes
from tablestore_engine.operation.read.arrow_read import output_schema, read_rows
from tablestore_engine.operation.scan.plan_scan import plan_scan
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.table_state import TableState

_INSERT, _AFTER = 0, 2
_AT_ONCE = 10_000


@dataclass(frozen=True)
class LogStart:
    """Where a reader begins: with the rows of a snapshot (0: none), and at offsets of the topic."""

    snapshot: int
    offsets: tuple[int, ...]


def start_of(state: TableState, scan: str | None = None, millis: int | None = None) -> LogStart:
    """Where a reader of the log begins.

    Args:
        state: the table.
        scan: full, latest or from-timestamp; None for what the option `log.scan` of the table says.
        millis: the time of from-timestamp; None for that of the option `log.scan.timestamp-millis`.

    Raises:
        OptionError: another `scan`, or no time. LogError: the table has no log, or the brokers do not answer.
    """
    log, options = required_settings(state.schema, state.name), state.options
    scan = scan or options.log_scan
    if scan == "full":
        position = noted_position(state)
        return LogStart(position.snapshot, position.offsets)
    if scan == "latest":
        return LogStart(0, tuple(last_stable_offsets(log)))
    if scan != "from-timestamp":
        raise OptionError(f"A log is read from full, latest or from-timestamp, not from '{scan}'.")
    millis = options.log_scan_timestamp_millis if millis is None else millis
    if millis is None:
        raise OptionError("from-timestamp needs a time.", hint="Set 'log.scan.timestamp-millis'.")
    return LogStart(0, tuple(offsets_at(log, millis)))


def read_log(
    state: TableState, start: LogStart, *, follow: bool = False, normalize: bool = False
) -> Iterator[pa.RecordBatch]:
    """The rows of the snapshot, as inserted ones, then the changes behind the offsets; `_row_kind` first.

    Args:
        state: the table.
        start: where to begin.
        follow: go on for ever; an empty batch comes when there was nothing for a while. If not, up to the present end.
        normalize: say what a key's row was before, in the mode upsert as well: the reader holds the table in memory.

    Raises:
        LogError: the brokers do not answer, messages or the snapshot are missing, or columns of the table were changed.
    """
    log = required_settings(state.schema, state.name)
    ends = None if follow else last_stable_offsets(log)
    held = Normalizer(state.schema) if normalize and state.schema.primary_keys else None
    if start.snapshot:
        for rows in _rows_at(state, start.snapshot):
            if held is not None:
                held.hold(rows)
            yield _with_kinds(rows, np.full(len(rows), _INSERT, np.int8))
    elif held is not None:
        _warm(state, held, start)
    count = partitions_of(log) if ends is None else len(ends)  # a replaced table may have another number of buckets
    for chunk in read_between(log, _still_there(state, log, start, count), ends):
        if follow:
            _check_columns(state)
        rows, kinds = _changes(state, log, chunk, start.snapshot)
        if held is not None:
            rows, kinds = held.normalized(rows, kinds)
        if follow or rows.num_rows:
            yield _with_kinds(rows, kinds)


def _still_there(state: TableState, log: LogSettings, start: LogStart, count: int) -> list[int]:
    """The offsets of a reader, or those of the oldest messages where the retention of the topic has deleted others that
    say nothing new. Raises LogError if some of them did."""
    offsets, first = _padded(start.offsets, count), first_offsets(log)[:count]
    if not any(kept > offset for kept, offset in zip(first, offsets, strict=False)):
        return offsets
    latest = state.snapshots.latest()
    newer = range(start.snapshot + 1, latest.id + 1) if latest and start.snapshot else ()
    if not start.snapshot or any(has_changes(state.snapshots.load(one)) for one in newer):
        raise LogError(
            f"Messages of topic '{log.topic}' after snapshot {start.snapshot} were deleted, such as by its retention.",
            hint=f"Begin anew. If it is the same then: {restart_hint(state)}",
        )
    return [max(pair) for pair in zip(offsets, [*first, *[0] * (count - len(first))], strict=True)]


def _check_columns(state: TableState) -> None:
    """Raise a LogError if the table has other columns than when the reader began: messages name columns as they are
    now."""
    newest = state.snapshots.latest()
    schema = state.schemas.latest(newest.schema_id if newest else None)
    if schema is not None and _shape(schema) != _shape(state.schema):
        raise LogError(
            f"Columns of table {state.name} were changed while its log was read.",
            hint="Begin anew, with the table as it is now.",
        )


def _shape(schema: TableSchema) -> list[tuple[str, str]]:
    return [(one.name, str(one.type)) for one in schema.fields]


def _padded(offsets: tuple[int, ...], count: int) -> list[int]:
    return [*offsets, *[0] * (count - len(offsets))][:count]


def _rows_at(state: TableState, snapshot: int) -> Iterator[pa.RecordBatch]:
    try:
        found = state.snapshots.load(snapshot)
    except SnapshotNotFound:
        raise LogError(
            f"The log of table {state.name} goes on from snapshot {snapshot}, which has expired.",
            hint=f"CALL sys.publish_log(table => '{state.name}') publishes what is missing. {restart_hint(state)}",
        ) from None
    yield from read_rows(state, plan_scan(state, found), state.schema.field_names)


def _warm(state: TableState, held: Normalizer, start: LogStart) -> None:
    """Hold the rows that the table had at the offsets of a reader that begins elsewhere than at its position."""
    log, position = required_settings(state.schema, state.name), noted_position(state)
    snapshot, begin, end = position.snapshot, _padded(position.offsets, len(start.offsets)), start.offsets
    if any(a > b for a, b in zip(begin, end, strict=True)):
        known = [max(a, b) for a, b in zip(begin, end, strict=True)]
        snapshot = _oldest_snapshot(state, log, end, known) - 1
        begin = _first_after(log, snapshot, end)
    if snapshot:
        for rows in _rows_at(state, snapshot):
            held.hold(rows)
    if any(a < b for a, b in zip(begin, end, strict=True)):
        for chunk in read_between(log, begin, end):
            held.normalized(*_changes(state, log, chunk, snapshot))


def _oldest_snapshot(state: TableState, log: LogSettings, starts: Sequence[int], ends: Sequence[int]) -> int:
    """The oldest snapshot of which there are messages between offsets, behind which there are others."""
    oldest = noted_position(state).snapshot + 1
    for chunk in read_between(log, starts, ends):
        oldest = min([oldest, *map(snapshot_of, chunk.messages)])
    if not oldest:
        raise LogError(
            f"Messages of topic '{log.topic}' do not name their snapshots ('log.consistency' = 'eventual'): what rows "
            "were before them is not known.",
            hint="Read without `normalize`, or begin with full or latest.",
        )
    return oldest


def _first_after(log: LogSettings, snapshot: int, ends: Sequence[int]) -> list[int]:
    """Offsets up to `ends` before which there are no messages of later snapshots than this one."""
    first, back = first_offsets(log), _AT_ONCE
    begin = [max(low, end - back) for low, end in zip(first, ends, strict=True)]
    while begin != first:
        oldest = dict[int, int]()
        for chunk in read_between(log, begin, ends) if begin != list(ends) else ():
            for one in chunk.messages:
                oldest.setdefault(one.partition(), snapshot_of(one))
        if all(begin[n] == first[n] or oldest.get(n, 0) <= snapshot for n in range(len(ends))):
            break
        back *= 4
        begin = [max(low, end - back) for low, end in zip(first, ends, strict=True)]
    return begin


def _changes(
    state: TableState, log: LogSettings, chunk: Chunk, known: int
) -> tuple[pa.RecordBatch, npt.NDArray[np.int8]]:
    """The changed rows of messages, without those of snapshots up to `known`."""
    messages = [one for one in chunk.messages if not known or not 0 < snapshot_of(one) <= known]
    schema = output_schema(state.schema, state.schema.field_names)
    wanted = Wanted(schema, every_before=log.sends_before)
    found = decode("debezium-json", [one.value() for one in messages], [None] * len(messages), wanted)
    if found.bad:
        raise LogError(
            f"A message of topic '{log.topic}' is not one of this table: {found.bad[0].reason}.",
            hint=restart_hint(state),
        )
    return _batch(found), _kinds(found, log)


def _batch(found: Decoded) -> pa.RecordBatch:
    batches = found.rows.combine_chunks().to_batches()
    if batches:
        return batches[0]
    return pa.RecordBatch.from_arrays([pa.nulls(0, one.type) for one in found.rows.schema], schema=found.rows.schema)


def _kinds(found: Decoded, log: LogSettings) -> npt.NDArray[np.int8]:
    """In the mode upsert, a new row of a key may be an insert or an update: it is read as an update."""
    if log.sends_before:
        return found.kinds
    return np.where(found.kinds == _INSERT, _AFTER, found.kinds).astype(np.int8)


def _with_kinds(rows: pa.RecordBatch, kinds: npt.NDArray[np.int8]) -> pa.RecordBatch:
    names = pa.array(KINDS).take(pa.array(kinds))
    return pa.RecordBatch.from_arrays([names, *rows.columns], names=[ROW_KIND, *rows.schema.names])
