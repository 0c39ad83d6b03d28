"""Scheduled compactions: what a plan merges, and its progress. Pure.

Vocabulary: an *instant* names a plan; it is the time at which the plan was made, `yyyyMMddHHmmssSSS` in UTC, so that
names sort by age. A *group* is the part of a plan in one bucket. An *attempt* is one process that carries the plan out;
it holds a *lease*, which its *heartbeats* renew. An attempt is *revoked* when its lease has expired and another process
takes the plan, and *rolled back* when it can no longer commit and its files are removed.

Invariants: a plan and each note about it are written once and never change, but for the heartbeat; an attempt begins
only after all earlier ones were rolled back; a plan that is completed or cancelled stays so. The JSON forms and the
kinds of failures are persisted.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import datetime, timezone
from enum import Enum
from typing import Any

LOST, CONFLICT, INTERRUPTED = "lost", "conflict", "interrupted"
"""Kinds of failures that are no fault of the plan; any other kind is the name of an error."""
_PASSING = (LOST, CONFLICT, INTERRUPTED, "")  # older notes do not have a kind
_TRIES, _TRIES_IN_PASSING = 3, 20
_VERSION = 1
_INSTANT = "%Y%m%d%H%M%S"


class PlanState(Enum):
    """The state of a plan. The names are shown to users."""

    REQUESTED = "REQUESTED"
    INFLIGHT = "INFLIGHT"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True)
class MergeOutput:
    """The result of a merge: a run of `level`. `drop_deletes`: it holds no deletes, because they hide nothing more."""

    level: int
    drop_deletes: bool = False

    @classmethod
    def of_all_runs(cls, level: int, *, keep_deletes: bool = False) -> MergeOutput:
        """The result of a merge that leaves no older run for a delete to hide.

        `keep_deletes` for tables in which a late row may be older than a delete.
        """
        return cls(level, drop_deletes=not keep_deletes)


@dataclass(frozen=True)
class PlannedFile:
    """One file to merge, as the table named it when the plan was made. Size in bytes."""

    file_name: str
    level: int
    size: int


@dataclass(frozen=True)
class PlanGroup:
    """Files of one bucket to merge. `partition` is a BinaryRow."""

    partition: bytes
    bucket: int
    output: MergeOutput
    files: tuple[PlannedFile, ...]

    @property
    def bucket_id(self) -> tuple[bytes, int]:
        """Partition and bucket."""
        return self.partition, self.bucket


@dataclass(frozen=True)
class CompactionPlan:
    """The files to merge. `snapshot_id` is the snapshot on which the plan was made; its commit has the user
    `commit_user`, whichever process runs it."""

    instant: str
    snapshot_id: int
    strategy: str
    commit_user: str
    scheduler: str
    created_millis: int
    groups: tuple[PlanGroup, ...]

    @property
    def bucket_ids(self) -> frozenset[tuple[bytes, int]]:
        """The buckets that it merges in."""
        return frozenset(group.bucket_id for group in self.groups)

    @property
    def files(self) -> tuple[PlannedFile, ...]:
        """All files that it merges."""
        return tuple(file for group in self.groups for file in group.files)

    def to_json(self) -> bytes:
        """The persisted form."""
        return _dump(
            {
                "version": _VERSION,
                "instant": self.instant,
                "snapshotId": self.snapshot_id,
                "strategy": self.strategy,
                "commitUser": self.commit_user,
                "scheduler": self.scheduler,
                "createdMillis": self.created_millis,
                "groups": [
                    {
                        "partition": base64.b64encode(group.partition).decode(),
                        "bucket": group.bucket,
                        "outputLevel": group.output.level,
                        "dropDeletes": group.output.drop_deletes,
                        "files": [{"name": one.file_name, "level": one.level, "size": one.size} for one in group.files],
                    }
                    for group in self.groups
                ],
            }
        )

    @classmethod
    def from_json(cls, text: bytes) -> CompactionPlan:
        """The plan of a persisted text.

        Raises:
            ValueError, KeyError, TypeError: the text is no plan, or one of a newer version.
        """
        data = json.loads(text)
        if data["version"] > _VERSION:
            raise ValueError(f"version {data['version']} is newer than {_VERSION}, which this engine knows")
        return cls(
            instant=data["instant"],
            snapshot_id=data["snapshotId"],
            strategy=data["strategy"],
            commit_user=data["commitUser"],
            scheduler=data["scheduler"],
            created_millis=data["createdMillis"],
            groups=tuple(
                PlanGroup(
                    base64.b64decode(one["partition"]),
                    one["bucket"],
                    MergeOutput(one["outputLevel"], one["dropDeletes"]),
                    tuple(PlannedFile(f["name"], f["level"], f["size"]) for f in one["files"]),
                )
                for one in data["groups"]
            ),
        )


@dataclass(frozen=True)
class Claim:
    """The record of an attempt when it begins. `write_id` is part of the name of every file that it writes."""

    owner: str
    write_id: str
    started_millis: int
    lease_millis: int

    def to_json(self) -> bytes:
        """The persisted form."""
        return _dump(
            {
                "owner": self.owner,
                "writeId": self.write_id,
                "startedMillis": self.started_millis,
                "leaseMillis": self.lease_millis,
            }
        )

    @classmethod
    def from_json(cls, text: bytes) -> Claim:
        """The claim of a persisted text. Raises ValueError, KeyError, TypeError."""
        data = json.loads(text)
        return cls(data["owner"], data["writeId"], data["startedMillis"], data["leaseMillis"])


@dataclass(frozen=True)
class Attempt:
    """One attempt at a plan, numbered from 1. `failure` says why it was rolled back, and `kind` of which kind that is;
    None until it was.
    """

    number: int
    claim: Claim
    heartbeat_millis: int | None = None
    revoked: bool = False
    failure: str | None = None
    kind: str | None = None

    @property
    def lease_until_millis(self) -> int:
        """The time from which others may take the plan."""
        seen = self.claim.started_millis if self.heartbeat_millis is None else self.heartbeat_millis
        return max(self.claim.started_millis, seen) + self.claim.lease_millis

    def is_running(self, now_millis: int) -> bool:
        """Whether it must be left alone."""
        return self.failure is None and not self.revoked and now_millis < self.lease_until_millis


@dataclass(frozen=True)
class Outcome:
    """How a plan ended. `snapshot_id` is the snapshot that it made, where it made one that is known."""

    state: PlanState
    time_millis: int
    snapshot_id: int | None = None
    message: str | None = None

    def to_json(self) -> bytes:
        """The persisted form."""
        return _dump({"timeMillis": self.time_millis, "snapshotId": self.snapshot_id, "message": self.message})

    @classmethod
    def from_json(cls, state: PlanState, text: bytes) -> Outcome:
        """The outcome of a persisted text. Raises ValueError, KeyError, TypeError."""
        data = json.loads(text)
        return cls(state, data["timeMillis"], data.get("snapshotId"), data.get("message"))


@dataclass(frozen=True)
class ScheduledCompaction:
    """A plan with its attempts, oldest first, and its outcome; None while it has none."""

    plan: CompactionPlan
    attempts: tuple[Attempt, ...] = ()
    outcome: Outcome | None = None

    @property
    def state(self) -> PlanState:
        """Its state."""
        if self.outcome is not None:
            return self.outcome.state
        last = self.last
        return PlanState.INFLIGHT if last is not None and last.failure is None else PlanState.REQUESTED

    @property
    def is_pending(self) -> bool:
        """Whether it is yet to be done."""
        return self.outcome is None

    @property
    def failures(self) -> int:
        """Attempts that were rolled back."""
        return sum(one.failure is not None for one in self.attempts)

    def is_hopeless(self, kind: str) -> bool:
        """Whether to give up the plan after one more failure like this one.

        One that fails by itself fails again, and meanwhile keeps its buckets from being merged otherwise; a busy table
        or a process that was killed is less of a reason.
        """
        before = sum(one.failure is not None and (one.kind or "") == kind for one in self.attempts)
        return before + 1 >= (_TRIES_IN_PASSING if kind in _PASSING else _TRIES)

    @property
    def last(self) -> Attempt | None:
        """The newest attempt."""
        return self.attempts[-1] if self.attempts else None

    def is_running(self, now_millis: int) -> bool:
        """Whether a process works on it that must be left alone."""
        return self.is_pending and self.last is not None and self.last.is_running(now_millis)


def in_order(found: list[ScheduledCompaction], now_millis: int) -> list[ScheduledCompaction]:
    """The plans that can be taken, the oldest first; one that has failed comes after those that have not been
    tried."""
    free = [one for one in found if one.is_pending and not one.is_running(now_millis)]
    return sorted(free, key=lambda one: (one.failures, one.plan.instant))


def instant_of(millis: int) -> str:
    """The instant of a time in milliseconds since 1970."""
    moment = datetime.fromtimestamp(millis // 1000, timezone.utc)
    return f"{moment.strftime(_INSTANT)}{millis % 1000:03}"


def millis_of(instant: str) -> int:
    """The time of an instant. Raises ValueError."""
    moment = datetime.strptime(instant[:-3], _INSTANT).replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) * 1000 + int(instant[-3:])


def _dump(data: dict[str, Any]) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False).encode()
