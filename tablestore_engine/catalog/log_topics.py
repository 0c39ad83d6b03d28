"""The topic of a table's log: made with the table, kept when it is replaced, deleted with it.

Invariant: options that do not fit are refused before anything is made, and a table with a log has its topic from its
first moment on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from tablestore_engine.errors import AlreadyExistsError, LogBehindError, LogDependencyError, LogError, TableStoreError
from tablestore_engine.kafka.settings import LogSettings, check_log, check_topic, has_log, settings_of
from tablestore_engine.kafka.topics import create_topic, delete_topic, set_retention
from tablestore_engine.operation.changelog.log_position import LogPosition, forget_position, note_position
from tablestore_engine.operation.log_store.unpublished_snapshots import anothers_snapshot
from tablestore_engine.options import LogOptions
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.table import Table
from tablestore_engine.table_state import TableState

_log = logging.getLogger(__name__)
TOPIC = LogOptions.log_kafka_topic.key


def with_topic(schema: TableSchema, identifier: tuple[str, str], topic: str | None = None) -> TableSchema:
    """The schema of a new table with the name of its topic. Raises OptionError for options that do not fit."""
    check_log(schema)
    options = schema.core_options
    if not has_log(options) or options.log_kafka_topic is not None:
        return schema
    name = topic or ".".join(identifier)
    check_topic(name)
    return replace(schema, options={**schema.options, TOPIC: name})


Tables = Callable[[], Iterable[Table]]
"""All tables of the warehouse."""


@contextmanager
def new_log(schema: TableSchema, is_used: Callable[[], bool], tables: Tables) -> Iterator[None]:
    """Make the topic of a table that the block makes. If the block fails and the table is not there, it is deleted.

    Raises:
        AlreadyExistsError: the topic has messages, or is that of another table.
        LogError: the brokers cannot be reached, or refuse.
    """
    log = settings_of(schema)
    if log is None:
        yield
        return
    _make(log, tables)
    try:
        yield
    except BaseException:
        if not is_used():
            drop_log(log)
        raise


def _make(log: LogSettings, tables: Tables) -> None:
    """Make a topic, or take a leftover. One that a table has already would get the changes of both, each with its own
    numbers of snapshots."""
    if not create_topic(log):
        return
    for other in tables():
        found = None
        with suppress(TableStoreError):  # options of a foreign table that do not fit
            found = settings_of(other.schema)
        if found is not None and found.topic == log.topic and found.brokers & log.brokers:
            raise AlreadyExistsError(
                f"Topic '{log.topic}' is the log of table {other.name}.", hint="Name another one by 'log.kafka.topic'."
            )


def begin_log(state: TableState) -> None:
    """Note in a new table that its log is empty."""
    log = settings_of(state.schema)
    if log is not None:
        note_position(state, LogPosition(log.topic))


@contextmanager
def replaced_log(state: TableState, wanted: TableSchema, tables: Tables) -> Iterator[TableSchema]:
    """Replace a table by one with the schema `wanted`, in the block; gives the schema with the topic it will have.

    The log goes on: its next changes say that all rows are deleted, and which ones there are now. A table that gets a
    log gets a topic, and one that loses it loses the topic afterwards.
    """
    old = settings_of(state.schema)
    schema = with_topic(wanted, state.identifier, old.topic if old else None)
    new = settings_of(schema)
    made = new if new is not None and (old is None or old.topic != new.topic) else None
    given_up = old if old is not None and (new is None or made is not None) else None
    if made is not None:
        _make(made, tables)
        latest = state.snapshots.latest()
        position = LogPosition(made.topic)
        note_position(state, replace(position, snapshot=latest.id, mark=latest.mark) if latest else position)
    try:
        yield schema
    except LogBehindError:  # the table is replaced
        _give_up(state, given_up)
        _set_retention(old, new)
        raise
    except BaseException:
        _give_up(state, made)
        raise
    _give_up(state, given_up)
    _set_retention(old, new)


def _set_retention(old: LogSettings | None, new: LogSettings | None) -> None:
    """Give the topic that a log keeps its new retention, if that is another one; a warning when that fails."""
    if old is None or new is None or old.topic != new.topic or old.retention_millis == new.retention_millis:
        return
    try:
        set_retention(new)
    except (LogError, LogDependencyError) as error:
        _log.warning("Topic '%s' keeps its retention; CREATE OR REPLACE TABLE sets it again: %s", new.topic, error)


def _give_up(state: TableState, log: LogSettings | None) -> None:
    """Delete the topic of a table that has another one, or none, and its note."""
    if log is not None:
        drop_log_of(state, log)
        forget_position(state, log.topic)


def drop_log_of(state: TableState, log: LogSettings | None = None) -> None:
    """Delete the topic of a table, or another one that it had, unless that has changes of a table elsewhere."""
    log = log or settings_of(state.schema)
    if log is None:
        return
    with suppress(TableStoreError):  # of a table that is damaged, or of a topic that cannot be read
        snapshot = anothers_snapshot(state, log)
        if snapshot:
            _log.warning(
                "Topic '%s' stays: it has changes of snapshot %d, which table %s does not have.",
                log.topic, snapshot, state.name,
            )  # fmt: skip
            return
    drop_log(log)


def drop_log(log: LogSettings | None) -> None:
    """Delete the topic of a table that is dropped. When that fails it stays, with a warning.

    The topic goes first: a process that dies in between leaves a table that can be dropped again, and not a full topic
    that nobody knows and that its table cannot be made with again.
    """
    if log is None:
        return
    try:
        delete_topic(log)
    except (LogError, LogDependencyError) as error:
        _log.warning("Topic '%s' stays, though its table is dropped: %s", log.topic, error)
