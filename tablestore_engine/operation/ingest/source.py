"""Where messages come from, and how far a table has taken them: a position in the properties of its snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tablestore_engine.log.settings import LogSettings
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.consumed import KAFKA, Consumed, Position, positions_of


@dataclass(frozen=True)
class KafkaSource:
    """A topic whose messages hold changes in a format (`log.change_formats.FORMATS`), and the id of its cluster."""

    topic: str
    servers: str
    format: str = "debezium-json"
    client: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""

    @property
    def name(self) -> str:
        """The name of the source among those that a table consumes."""
        return f"{KAFKA}{self.topic}@{self.cluster}"

    @property
    def log(self) -> LogSettings:
        """The topic, for the room that reads it."""
        return LogSettings(self.topic, self.servers, self.client)


def consumed_offsets(source: KafkaSource, latest: Snapshot | None) -> tuple[int, ...] | None:
    """The offset of each partition that a table takes next; None when it has taken nothing yet."""
    found = positions_of(latest).get(source.name)
    return None if found is None else tuple(int(one) for one in found.mark.split(",") if one)


def position_of(offsets: Sequence[int]) -> Position:
    """Offsets as a position: their sum, which grows with each message, and each of them."""
    return Position(sum(offsets), ",".join(map(str, offsets)))


def consumed(source: KafkaSource, before: Sequence[int] | None, after: Sequence[int]) -> Consumed:
    """The record, in a write, of the messages that its rows come from."""
    earlier = None if before is None else position_of(before)
    return Consumed(source.name, earlier, position_of(after), first=before is None)
