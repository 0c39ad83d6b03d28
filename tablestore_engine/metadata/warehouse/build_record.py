"""The record of a table that is being filled under its own name: its process, and the commit that completes it.

A *process* is known by its machine, number and time of start. Invariant: the record is written before the table
appears, and removed after it is complete or dropped.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Process:
    """A process. `machine` is None on systems that cannot distinguish them; `started` counts from its boot."""

    machine: str | None
    number: int
    started: int | None


@dataclass(frozen=True)
class BuildRecord:
    """A build of a table, and the process that owns it. It is alive while that runs, or until its lease ends."""

    id: str
    database: str
    table: str
    owner: Process
    commit_user: str
    commit_identifier: int
    time_millis: int
    lease_millis: int

    def is_abandoned(self, running: bool | None, seen_millis: int | None, now_millis: int) -> bool:
        """Whether the owner is dead.

        running: whether its process runs; None when that cannot be known here, for example on another machine.
        seen_millis: its last heartbeat.
        """
        if running is not None:
            return not running
        return now_millis - max(self.time_millis, seen_millis or 0) > self.lease_millis

    def to_json(self) -> bytes:
        """The record as text."""
        return json.dumps(asdict(self), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, data: bytes) -> BuildRecord:
        """A record from its text. Raises ValueError, KeyError, TypeError."""
        values = json.loads(data)
        return cls(**{**values, "owner": Process(**values["owner"])})
