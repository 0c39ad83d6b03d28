"""Snapshots that somebody still needs: the consumers of a table, and its log.

The log needs the last snapshot that is known to be published, because the next changes are those since then, and all
later ones. So it loses nothing, whenever a process dies between a commit and its publication, and however many publish.
"""

from __future__ import annotations

from contextlib import suppress

from tablestore_engine.errors import LogError, SnapshotNotFound
from tablestore_engine.kafka.settings import has_log
from tablestore_engine.operation.changelog.log_position import noted_position
from tablestore_engine.storage.metadata_files.consumer_store import consumers
from tablestore_engine.table_state import TableState


def waited_for(state: TableState, earliest: int, now_millis: int) -> list[int]:
    """The snapshots from which on somebody needs all; `earliest` is the oldest that there is."""
    found = list(consumers(state.io, state.paths).values())
    if has_log(state.options) and state.options.log_kafka_topic is not None:
        with suppress(LogError):  # how far the log is is not known: each publication says so
            published = noted_position(state).snapshot
            if not _is_given_up(state, max(published + 1, earliest), now_millis):
                found.append(published)
    return found


def _is_given_up(state: TableState, unpublished: int, now_millis: int) -> bool:
    """Whether the oldest snapshot that the log lacks has waited longer than `consumer.expiration-time` says."""
    limit = state.options.consumer_expiration_time_millis
    if limit is None:
        return False
    with suppress(SnapshotNotFound):
        return state.snapshots.load(unpublished).time_millis + limit < now_millis
    return False
