"""Publication: the changes of each snapshot that the log lacks, in one transaction per snapshot, oldest first.

The content of a log is read from the log itself, so the next publisher repairs what a process that died at any step
left: the next commit, or CALL sys.publish_log. Commits that change no row, and those whose statement or table does not
track changes, only move the position on.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic, sleep
from zlib import crc32

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import LogBehindError, LogError, LogFencedError, SnapshotNotFound, TableStoreError
from tablestore_engine.kafka.client import BROKER_FAILED, UNREACHABLE
from tablestore_engine.kafka.encode_messages import Messages, messages_of
from tablestore_engine.kafka.settings import LogSettings, has_log, required_settings, settings_of
from tablestore_engine.kafka.topic_reader import newest_snapshot
from tablestore_engine.kafka.topics import (
    brokers_answer,
    create_topic,
    delete_topic,
    grow_topic,
    last_stable_offsets,
)
from tablestore_engine.kafka.transactional_producer import Publisher, forget_publisher, publisher_of
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows
from tablestore_engine.metadata.snapshot import NO_ROWS, Snapshot
from tablestore_engine.operation.changelog.arrow_changes import changelog_rows, streamed_rows
from tablestore_engine.operation.changelog.change_plan import AllRows, ChangePlan, ChangeRange, plan_changes
from tablestore_engine.operation.changelog.log_position import (
    ALL_ROWS,
    LogPosition,
    note_position,
    noted_position,
    restart_hint,
)
from tablestore_engine.operation.commit.change import LOG_SENT, UNTRACKED
from tablestore_engine.operation.scan.plan_scan import plan_scan
from tablestore_engine.table_state import TableState

_INSERT, _DELETE = 0, 3
_ATTEMPTS = 5
_PAUSE_SECONDS = 30.0
_down_until: dict[tuple[str, str], float] = {}
"""Until when brokers are not asked (with the topic ""), or one topic of theirs."""


class _Ours:
    """The state of a topic in this process: its publishing thread holds `lock`, and `reached` was published last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reached: LogPosition | None = None


_topics: dict[tuple[str, str], _Ours] = {}


@dataclass(frozen=True)
class Published:
    """The result of a publication: how many snapshots and messages were sent, and the last one that the log knows."""

    snapshots: int
    messages: int
    last: int


def publish_after_commit(state: TableState) -> None:
    """Publish what the log lacks. After a failure the topic is not written to for half a minute; where the brokers do
    not answer, no topic of theirs.

    Raises:
        LogBehindError: `log.on-failure` = fail, and the changes were not published.
        LogError: they were not published.
    """
    options = state.options
    if not has_log(options) or options.log_kafka_topic is None:
        return
    may_wait = options.log_on_failure == "fail"
    log = required_settings(state.schema, state.name)
    if not may_wait:
        _refuse_paused(state, log)
    try:
        publish_log(state)
        for key in _paused_by(log):
            _down_until.pop(key, None)
    except LogError as error:
        answer = error.code != UNREACHABLE and brokers_answer(log)
        _down_until[log.servers, log.topic if answer else ""] = monotonic() + _PAUSE_SECONDS
        if may_wait:
            raise LogBehindError(
                f"The rows were committed to table {state.name}, but not published: {error.message}", hint=_LATER
            ) from error
        raise


def _paused_by(log: LogSettings) -> tuple[tuple[str, str], ...]:
    return (log.servers, ""), (log.servers, log.topic)


def _refuse_paused(state: TableState, log: LogSettings) -> None:
    """Raise a LogError if the brokers, or the topic of the log, failed a short while ago."""
    for servers, topic in _paused_by(log):
        if monotonic() < _down_until.get((servers, topic), 0.0):
            failed = f"Topic '{topic}' was not written to" if topic else f"The brokers {servers} did not answer"
            raise LogError(f"{failed} a short while ago.", hint=_LATER)


_LATER = "A later write publishes what is missing, or CALL sys.publish_log."


def publish_log(state: TableState) -> Published:
    """Publish the changes of all snapshots that the log of a table lacks.

    Raises:
        LogError: the brokers cannot be reached, or the log and the table no longer fit each other.
    """
    log = required_settings(state.schema, state.name)
    ours = _ours(log)
    with ours.lock:
        return _published(state, log, ours)


def restart_log(state: TableState) -> Published:
    """Make the topic of a table anew, with all rows of the latest snapshot as inserted ones. Raises LogError.

    If the process dies, the next publication goes on: that all rows are missing is noted before one of them is sent.
    """
    log = required_settings(state.schema, state.name)
    ours = _ours(log)
    with ours.lock:
        forget_publisher(log)
        publisher_of(log)  # nobody else publishes to the topic that goes
        forget_publisher(log)
        delete_topic(log)
        create_topic(log)
        note_position(state, LogPosition(log.topic, mark=ALL_ROWS if state.snapshots.latest() else ""))
        return _published(state, log, ours)


def _ours(log: LogSettings) -> _Ours:
    return _topics.setdefault((log.servers, log.topic), _Ours())


def _published(state: TableState, log: LogSettings, ours: _Ours) -> Published:
    """Publish, and begin again from what the topic holds then, where another process may be why it failed.

    That process publishes what this one was to publish as well; then it is done.
    """
    wanted = 0
    for attempt in range(_ATTEMPTS):
        latest, noted = state.snapshots.latest(), noted_position(state)
        if latest is None or (noted.snapshot == latest.id and noted.fits(latest)) or 0 < wanted <= noted.snapshot:
            return Published(0, 0, noted.snapshot)
        wanted = wanted or latest.id
        try:
            return _publish(state, log, ours, latest, noted)
        except TableStoreError as error:
            forget_publisher(log)
            if attempt + 1 == _ATTEMPTS or not _is_anothers(state, noted, error):
                raise
            sleep(random.uniform(0.05, 0.3) * (attempt + 1))  # noqa: S311 - spreads retries
        except BaseException:
            forget_publisher(log)
            raise
    raise AssertionError("unreachable")


def _is_anothers(state: TableState, noted: LogPosition, error: TableStoreError) -> bool:
    """Whether a publication may have failed because another process publishes, too.

    The other one fences this one, and brokers may give an unknown error to a transaction that they end for it. What the
    other one has published expires.
    """
    if isinstance(error, LogError):
        return isinstance(error, LogFencedError) or error.code == BROKER_FAILED
    return noted_position(state) != noted


def _publish(state: TableState, log: LogSettings, ours: _Ours, latest: Snapshot, noted: LogPosition) -> Published:
    publisher, known = publisher_of(log)
    own = known and noted == ours.reached
    if own:
        position = noted
    else:
        noted = noted_position(state)
        position = _in_topic(state, log, noted)
    progress = _Progress(state, log, publisher, position, noted)
    before = _last_published(state, position)
    if before is None and position.snapshot:
        if own or noted_position(state) != noted:
            raise _overtaken(state)
        raise _lost(state, position, "has expired")
    lacking = iter([latest]) if position.mark == ALL_ROWS else _later(state, position.snapshot, latest.id)
    for snapshot in lacking:
        progress.publish(before, snapshot)
        before = snapshot
    progress.note()
    ours.reached = progress.position
    return progress.result()


def _in_topic(state: TableState, log: LogSettings, noted: LogPosition) -> LogPosition:
    """The position after what a process published that died before it could note it."""
    ends = last_stable_offsets(log)  # not behind what another one is publishing
    if len(ends) < len(noted.offsets) or any(a < b for a, b in zip(ends, noted.offsets, strict=False)):
        raise LogError(
            f"Topic '{log.topic}' was made anew: it lacks messages that were published.", hint=restart_hint(state)
        )
    newest, found = _newest(state, log, noted)
    if newest <= noted.snapshot:
        return noted
    if found is None:
        if noted_position(state) != noted:
            raise _overtaken(state)  # and what the other one has published expired
        raise LogError(
            f"Topic '{log.topic}' has changes of snapshot {newest}, which table {state.name} does not have.",
            hint=restart_hint(state),
        )
    return LogPosition(log.topic, newest, found.mark, tuple(ends))


def _newest(state: TableState, log: LogSettings, noted: LogPosition) -> tuple[int, Snapshot | None]:
    """The newest snapshot of which the topic has changes behind a position (0: none); None if the table has no such
    one: the table was restored, the topic was, or it is that of another table."""
    newest, mark = newest_snapshot(log, noted.offsets)
    with suppress(SnapshotNotFound):
        found = state.snapshots.load(newest) if newest else None
        return newest, found if found is not None and mark in ("", _short(found.mark)) else None
    return newest, None


def anothers_snapshot(state: TableState, log: LogSettings) -> int:
    """The snapshot of another table of which the topic of a table has changes; 0 if it has none. Raises LogError."""
    noted = noted_position(state)
    newest, found = _newest(state, log, noted)
    return newest if newest > noted.snapshot and found is None else 0


def _short(mark: str) -> str:
    """A mark of a snapshot in eight characters, which each message has."""
    return f"{crc32(mark.encode()):08x}"


def _last_published(state: TableState, position: LogPosition) -> Snapshot | None:
    """The snapshot of a position; None for the empty table, and when there is no such snapshot any more."""
    try:
        found = state.snapshots.load(position.snapshot) if position.snapshot else None
    except SnapshotNotFound:
        return None
    if found is not None and not position.fits(found):
        raise _lost(state, position, "is another one now")
    return found


def _overtaken(state: TableState) -> LogFencedError:
    return LogFencedError(f"Another process publishes the changes of table {state.name}.")


def _lost(state: TableState, position: LogPosition, why: str) -> LogError:
    return LogError(
        f"The log of table {state.name} holds changes up to snapshot {position.snapshot}, which {why}.",
        hint=restart_hint(state),
    )


def _later(state: TableState, after: int, last: int) -> Iterator[Snapshot]:
    """The snapshots that are left; the changes of an expired one are sent with the next."""
    for number in range(after + 1, last + 1):
        with suppress(SnapshotNotFound):
            yield state.snapshots.load(number)


class _Progress:
    """Publishes one snapshot after the other, and notes how far it came."""

    def __init__(
        self, state: TableState, log: LogSettings, publisher: Publisher, position: LogPosition, noted: LogPosition
    ) -> None:
        self._state = state
        self._log = log
        self._publisher = publisher
        self.position = position
        self._noted = noted
        self._snapshots = self._messages = 0

    def publish(self, before: Snapshot | None, snapshot: Snapshot) -> None:
        """Send what changed between two snapshots, if that is anything, and note the position behind it."""
        offsets, sent = self.position.offsets, (snapshot.properties or {}).get(LOG_SENT)
        follows = self.position.precedes(snapshot)  # if not, it represents others that have expired
        if sent is not None and follows:
            # Its rows are in the topic, behind these offsets; they may be there twice.
            offsets = tuple(int(one) for one in sent.split(","))
            self.position = LogPosition(self._log.topic, snapshot.id, snapshot.mark, offsets)
            return
        messages = self._messages_between(before, snapshot) if has_changes(snapshot) or not follows else iter(())
        first = next(messages, None)
        if first is not None:
            if self._log.partitions > len(offsets):
                self._grow()
            sent_now, offsets = self._publisher.publish(
                snapshot.id, _short(snapshot.mark), itertools.chain([first], messages)
            )
            self._messages += sent_now
            self._snapshots += 1
        self.position = LogPosition(self._log.topic, snapshot.id, snapshot.mark, offsets)
        if first is not None:
            self.note()

    def _grow(self) -> None:
        """Add partitions to the topic. The producer that this process has does not learn of them for minutes."""
        if grow_topic(self._log):
            forget_publisher(self._log)
            self._publisher, _ = publisher_of(self._log)

    def note(self) -> None:
        """Store the position, unless another process, which publishes now, stored its own meanwhile."""
        if self.position != self._noted and noted_position(self._state) == self._noted:
            note_position(self._state, self.position)
            self._noted = self.position

    def result(self) -> Published:
        """The result so far."""
        return Published(self._snapshots, self._messages, self.position.snapshot)

    def _messages_between(self, before: Snapshot | None, after: Snapshot) -> Iterator[Messages]:
        for state, changes in _changes(self._state, before, after):
            log = settings_of(state.schema) or self._log
            yield from messages_of(changes, replace(log, topic=self._log.topic))


def has_changes(snapshot: Snapshot) -> bool:
    """Whether a snapshot has changes of rows that are sent to a log."""
    return snapshot.commit_kind not in NO_ROWS and UNTRACKED not in (snapshot.properties or {})


def _changes(state: TableState, before: Snapshot | None, after: Snapshot) -> Iterator[tuple[TableState, ChangelogRows]]:
    """The changes, some rows at a time, with the table in whose schema they are.

    Of a table that was replaced by another one, all rows are deleted and all others inserted.
    """
    now = state.with_schema(state.schemas.load(after.schema_id))
    if before is not None and now.options.log_kafka_topic != state.options.log_kafka_topic:
        return  # of a table with another log, that was written to while it was replaced
    if before is not None and not state.schemas.are_of_one_table(before.schema_id, after.schema_id):
        past = state.with_schema(state.schemas.load(before.schema_id))
        settings = settings_of(past.schema)
        deleted = settings is not None and settings.topic == state.options.log_kafka_topic
        for kind, of, snapshot in ((_DELETE, past, before), (_INSERT, now, after))[0 if deleted else 1 :]:
            for rows in streamed_rows(of, plan_scan(of, snapshot)):
                yield of, _all(rows, kind)
        return
    plan: ChangePlan = plan_changes(now, ChangeRange(before, after))
    if isinstance(plan, AllRows):
        for rows in streamed_rows(now, plan.rows):
            yield now, _all(rows, _INSERT)
        return
    changes = changelog_rows(now, plan)
    yield now, _deletes_first(changes) if now.schema.crosses_partitions else changes


def _all(rows: pa.Table, kind: int) -> ChangelogRows:
    return ChangelogRows(rows, np.full(rows.num_rows, kind, np.int8))


def _deletes_first(changes: ChangelogRows) -> ChangelogRows:
    """A key that moves to another partition is deleted before it is inserted."""
    order = np.argsort(changes.kinds != _DELETE, kind="stable")
    return ChangelogRows(changes.rows.take(pa.array(order)), changes.kinds[order])
