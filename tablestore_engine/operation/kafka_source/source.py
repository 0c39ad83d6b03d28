"""Where messages come from, and how far a table has taken them: a position in the properties of its snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tablestore_engine.errors import LogError, OptionError
from tablestore_engine.kafka.decode_messages import FORMATS
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.kafka.topics import cluster_of, partitions_of, topic_id_of
from tablestore_engine.operation.commit.consumed_positions import KAFKA, Consumed, Position


@dataclass(frozen=True)
class KafkaSource:
    """A topic whose messages hold changes in a format (`kafka.decode_messages.FORMATS`), the id of its cluster, and its
    own id: a topic that was deleted and made anew has another one."""

    topic: str
    servers: str
    format: str = "debezium-json"
    client: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    topic_id: str = ""

    @property
    def name(self) -> str:
        """The name of the source among those that a table consumes."""
        return f"{KAFKA}{self.topic}@{self.cluster}"

    @property
    def log(self) -> LogSettings:
        """The topic, for the room that reads it."""
        return LogSettings(self.topic, self.servers, self.client)


def located(source: KafkaSource) -> KafkaSource:
    """The source with the ids of its cluster and topic; old ones give none. Raises LogError: no such topic."""
    cluster, topic_id = cluster_of(source.log), topic_id_of(source.log)
    if not topic_id and not partitions_of(source.log):
        raise LogError(
            f"There is no topic '{source.topic}' on {source.servers}.",
            hint="Check the name of the topic and of its brokers. The writer of the messages makes the topic.",
        )
    return replace(source, cluster=cluster, topic_id=topic_id)


def offsets_of(source: KafkaSource, positions: Mapping[str, Position]) -> tuple[int, ...] | None:
    """The offset of each partition that a table with these positions takes next; None when it has taken nothing yet."""
    found = positions.get(source.name)
    return None if found is None else tuple(int(one) for one in found.mark.partition("@")[0].split(",") if one)


def why_another_topic(source: KafkaSource, positions: Mapping[str, Position]) -> str:
    """Why offsets of a table are not those of this topic; empty when they are, or when no ids are known."""
    found = positions.get(source.name)
    before = found.mark.partition("@")[2] if found else ""
    if not before or not source.topic_id or before == source.topic_id:
        return ""
    return f"it was deleted and made anew; the table took messages of the topic with the id {before}"


def position_of(offsets: Sequence[int], topic_id: str = "") -> Position:
    """Offsets as a position: their sum, which grows with each message, each of them, and the id of the topic."""
    return Position(sum(offsets), ",".join(map(str, offsets)) + (f"@{topic_id}" if topic_id else ""))


def consumed(source: KafkaSource, before: Position | None, after: Sequence[int]) -> Consumed:
    """The record, in a write, of the messages that its rows come from. `before`: as the table has it, which may be
    without the id of the topic."""
    return Consumed(source.name, before, position_of(after, source.topic_id), first=before is None)


def check_format(name: str, *, keyed: bool) -> None:
    """Raise an OptionError for a format that is unknown, or that needs a key where there is none."""
    if name not in FORMATS:
        raise OptionError(f"Messages cannot be read as '{name}'.", hint=f"There are: {', '.join(FORMATS)}.")
    if name == "upsert-json" and not keyed:
        raise OptionError("upsert-json needs a primary key.", hint="Use json, whose rows are inserted.")


def check_start(start: str) -> None:
    """Raise an OptionError for a start that is unknown."""
    if start not in ("earliest", "latest"):
        raise OptionError(f"A topic is read from earliest or latest, not from '{start}'.")


def first_to_take(
    source: KafkaSource,
    before: Sequence[int] | None,
    first: Sequence[int],
    ends: Sequence[int],
    start: str = "earliest",
) -> tuple[int, ...]:
    """The offset of each partition to begin at, of a topic that holds the messages from `first` to `ends`.

    Partitions may have come since `before`. Raises LogError when messages were lost.
    """
    if before is None:
        return tuple(first if start == "earliest" else ends)
    refuse_lost(source, why_messages_lost(before, first, ends))
    return (*before, *first[len(before) :])


def refuse_lost(source: KafkaSource, reason: str) -> None:
    """Raise a LogError when there is a reason why messages cannot be taken."""
    if reason:
        raise LogError(
            f"Messages of topic '{source.topic}' cannot be taken: {reason}.",
            hint="Load the source anew into a new table; a longer retention keeps messages.",
        )


def why_messages_lost(before: Sequence[int], first: Sequence[int], ends: Sequence[int]) -> str:
    """Why the messages after the offsets that a table has taken cannot be read; empty when they can."""
    if len(before) > len(ends) or any(a > b for a, b in zip(before, ends, strict=False)):
        return "it was made anew, and has fewer messages than the table has taken"
    lost = [number for number, (a, b) in enumerate(zip(before, first, strict=False)) if a < b]
    if not lost:
        return ""
    number = lost[0]
    return (
        f"those of partition {number} from offset {before[number]} on were deleted before the table took them; "
        f"the first one left is {first[number]}"
    )
