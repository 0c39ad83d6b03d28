"""How far a log is: a snapshot, and offsets of the topic behind the changes of that snapshot.

The position is noted in a file of the table after each publication, one for each topic that the log has had. The note
may be old: a process can die between the publication and the note, or be so slow that it overwrites a newer one. But
the messages of all later snapshots are behind its offsets. So a publisher reads the topic from there first,
unless the note is its own last one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from tablestore_engine.errors import LogError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.table_state import TableState

ALL_ROWS = "all rows"
"""The mark of a position in a topic that was made anew for a table with rows, and lacks all of them."""


@dataclass(frozen=True)
class LogPosition:
    """`snapshot` 0 is the empty table. Snapshots of the same number in two tables have different `mark`s."""

    topic: str
    snapshot: int = 0
    mark: str = ""
    offsets: tuple[int, ...] = ()

    @classmethod
    def from_json(cls, text: bytes) -> LogPosition:
        """A position from its text. Raises ValueError, KeyError, TypeError."""
        found = json.loads(text)
        return cls(str(found["topic"]), int(found["snapshot"]), str(found["mark"]), tuple(found["offsets"]))

    def fits(self, found: Snapshot) -> bool:
        """Whether a snapshot is the one of the position."""
        return found.id == self.snapshot and self.mark in ("", found.mark)

    def precedes(self, found: Snapshot) -> bool:
        """Whether the log lacks nothing but a snapshot, when it has that one."""
        return found.id == self.snapshot + 1 and self.mark != ALL_ROWS


def note_position(state: TableState, position: LogPosition) -> None:
    """Store a position."""
    state.io.write(state.paths.log_position(position.topic), json.dumps(asdict(position)).encode())


def noted_position(state: TableState) -> LogPosition:
    """The position in the table's topic that was stored last. Raises LogError when there is none,
    CorruptMetadataError."""
    path = state.paths.log_position(state.options.log_kafka_topic or "")
    position = read_record(state.io, path, LogPosition.from_json)
    if position is None:
        raise LogError(
            f"It is not known how far the log of table {state.name} is: {path} does not exist.",
            hint=restart_hint(state),
        )
    return position


def forget_position(state: TableState, topic: str) -> None:
    """Remove the note of a topic that the log does not have any more."""
    state.io.delete(state.paths.log_position(topic))


def restart_hint(state: TableState) -> str:
    """How a log is made anew."""
    return f"CALL sys.publish_log(table => '{state.name}', restart => true) makes it anew, from all rows."
