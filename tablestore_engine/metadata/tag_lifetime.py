"""The lifetime of a tag, which the file of a tag holds in addition to its snapshot.

Vocabulary: the *lifetime* of a tag is when it was made and for how long it is kept; a tag without one stays until
it is deleted. Invariant: the file of a tag without a lifetime is a byte-for-byte copy of the snapshot's file, because
older readers of the format expect that. Times in such a file are local times, as Paimon writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tablestore_engine.metadata.snapshot import Snapshot

_CREATED = "tagCreateTime"
_RETAINED = "tagTimeRetained"
_DATE_PARTS = 3  # year, month, day; without minutes there is no time


@dataclass(frozen=True)
class Lifetime:
    """When a tag was made (milliseconds since 1970), and for how many milliseconds it is kept."""

    created_millis: int
    retained_millis: int

    def is_over(self, now_millis: int) -> bool:
        """Whether the lifetime has ended."""
        return self.created_millis + self.retained_millis < now_millis


def tag_of(snapshot: Snapshot, lifetime: Lifetime | None) -> Snapshot:
    """The content of a tag's file: the snapshot, with this lifetime and no other."""
    extra: dict[str, Any] = {k: v for k, v in snapshot.extra.items() if k not in (_CREATED, _RETAINED)}
    if lifetime is not None:
        extra[_CREATED] = _local_parts(lifetime.created_millis)
        extra[_RETAINED] = float(Decimal(lifetime.retained_millis) / 1000)
    return replace(snapshot, extra=extra)


def lifetime_of(tag: Snapshot) -> Lifetime | None:
    """The lifetime in a tag's file, None when it has none. Raises ValueError or TypeError when it cannot be read."""
    created, retained = tag.extra.get(_CREATED), tag.extra.get(_RETAINED)
    if created is None or retained is None:
        return None
    return Lifetime(_millis_of(created), _duration_of(retained))


def duration_text(millis: int) -> str:
    """A duration as Java writes it: `PT24H`, `PT1H30M`, `PT0.5S`."""
    hours, rest = divmod(millis, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    text = "PT" + (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    if rest or text == "PT":
        text += f"{(Decimal(rest) / 1000).normalize():f}S"
    return text


def _local_parts(millis: int) -> list[int]:
    at = datetime.fromtimestamp(millis // 1000)
    return [at.year, at.month, at.day, at.hour, at.minute, at.second, millis % 1000 * 1_000_000]


def _millis_of(value: Sequence[int] | str) -> int:
    if isinstance(value, str):
        return int(datetime.fromisoformat(value).timestamp() * 1000)
    if len(value) < _DATE_PARTS:
        raise ValueError(f"{list(value)} is not a time")
    year, month, day, hour, minute, second, nanos = [*value, *[0] * (7 - len(value))]
    at = datetime(year, month, day, hour, minute, second)
    return int(at.timestamp()) * 1000 + nanos // 1_000_000


def _duration_of(value: float | str) -> int:
    if isinstance(value, str):
        raise TypeError(f"'{value}' is not a number of seconds")
    return timedelta(seconds=value) // timedelta(milliseconds=1)
