"""The timeline of one table's scheduled compactions: small files in its side directory.

A *note* is a file called `<instant>.<note>` or `<instant>.<note>.<attempt>`. `requested` holds the plan, `inflight` the
process that attempts it, `heartbeat` when that process was last seen; `revoked` and `rolledback` end an attempt,
`completed` and `cancelled` the plan. All but the heartbeat are created once, atomically, so that of any number of
processes only one takes a step. Invariant: an instant without its `requested` does not exist.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.metadata.compaction_plan import (
    Attempt,
    Claim,
    CompactionPlan,
    Outcome,
    PlanState,
    ScheduledCompaction,
)
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import TablePaths

REQUESTED, INFLIGHT, HEARTBEAT = "requested", "inflight", "heartbeat"
REVOKED, ROLLED_BACK = "revoked", "rolledback"
_OUTCOMES = {"completed": PlanState.COMPLETED, "cancelled": PlanState.CANCELLED}

_Notes = set[tuple[str, int]]
T = TypeVar("T")


class TimelineStore:
    """Reads and writes the timeline of the table at ``paths``."""

    def __init__(self, io: FileIO, paths: TablePaths) -> None:
        self._io = io
        self._paths = paths

    def instants(self) -> list[str]:
        """All instants, oldest first."""
        return [instant for instant, notes in self._listed().items() if (REQUESTED, 0) in notes]

    def load(self) -> list[ScheduledCompaction]:
        """All plans, oldest first. Raises CorruptMetadataError."""
        found = (self._load(instant, notes) for instant, notes in self._listed().items())
        return [one for one in found if one is not None]

    def running(self, now_millis: int) -> list[ScheduledCompaction]:
        """The plans on which a process is working."""
        return [one for one in self.pending() if one.is_running(now_millis)]

    def busy_buckets(self, now_millis: int) -> frozenset[tuple[bytes, int]]:
        """The buckets, by partition and number, in which such plans merge."""
        return frozenset(bucket for one in self.running(now_millis) for bucket in one.plan.bucket_ids)

    def pending(self) -> list[ScheduledCompaction]:
        """The plans that are yet to be done, oldest first; those that are done are not read. Raises
        CorruptMetadataError."""
        listed = self._listed().items()
        found = (self._load(instant, notes) for instant, notes in listed if not _is_done(notes))
        return [one for one in found if one is not None]

    def newest(self) -> CompactionPlan | None:
        """The newest plan, done or not. Raises CorruptMetadataError."""
        for instant in reversed(self.instants()):
            plan = self._plan(instant)
            if plan is not None:
                return plan
        return None

    def request(self, plan: CompactionPlan) -> bool:
        """Write a plan down. False when its instant is taken."""
        return self._create(plan.instant, REQUESTED, 0, plan.to_json())

    def claim(self, instant: str, attempt: int, claim: Claim) -> bool:
        """Begin an attempt. False when somebody else began it."""
        return self._create(instant, INFLIGHT, attempt, claim.to_json())

    def beat(self, instant: str, attempt: int, now_millis: int) -> None:
        """Renew the lease of an attempt."""
        data = json.dumps({"timeMillis": now_millis}).encode()
        self._io.write(self._paths.compaction_note(instant, HEARTBEAT, attempt), data)

    def revoke(self, instant: str, attempt: int, by: str) -> None:
        """Take the right to commit from an attempt."""
        self._create(instant, REVOKED, attempt, json.dumps({"by": by}).encode())

    def is_revoked(self, instant: str, attempt: int) -> bool:
        """Whether an attempt may commit no longer."""
        return self._io.exists(self._paths.compaction_note(instant, REVOKED, attempt))

    def roll_back(self, instant: str, attempt: int, reason: str, kind: str) -> None:
        """Note that an attempt's files are removed, so that the next one may begin; with the reason and its kind."""
        data = json.dumps({"reason": reason, "kind": kind}, ensure_ascii=False).encode()
        self._create(instant, ROLLED_BACK, attempt, data)

    def finish(self, instant: str, outcome: Outcome) -> None:
        """Note how a plan ended; the first note counts."""
        self._create(instant, outcome.state.value.lower(), 0, outcome.to_json())

    def prune(self, keep: int) -> None:
        """Remove all but the newest `keep` of the plans that are done."""
        listed = self._listed()
        done = [instant for instant, notes in listed.items() if (REQUESTED, 0) in notes and _is_done(notes)]
        removed = {*done[: max(len(done) - keep, 0)]}
        # Left by a pruning that was killed: it removes the plan first, and with it the instant.
        removed |= {instant for instant, notes in listed.items() if (REQUESTED, 0) not in notes}
        for instant in sorted(removed):
            notes = sorted(listed[instant], key=lambda one: (one[0] != REQUESTED, one))
            for note, attempt in notes:
                self._io.delete(self._paths.compaction_note(instant, note, attempt or None))

    def _listed(self) -> dict[str, _Notes]:
        found: dict[str, _Notes] = defaultdict(set)
        for status in self._io.list(self._paths.compaction_dir):
            named = self._paths.compaction_note_of(status.name)
            if named is not None:
                instant, note, attempt = named
                found[instant].add((note, attempt))
        return dict(sorted(found.items()))

    def _load(self, instant: str, notes: _Notes) -> ScheduledCompaction | None:
        plan = self._plan(instant) if (REQUESTED, 0) in notes else None
        if plan is None:
            return None
        numbers = sorted(attempt for note, attempt in notes if note == INFLIGHT)
        attempts = (self._attempt(instant, number, notes) for number in numbers)
        return ScheduledCompaction(
            plan, tuple(one for one in attempts if one is not None), self._outcome(instant, notes)
        )

    def _plan(self, instant: str) -> CompactionPlan | None:
        return self._record(instant, REQUESTED, 0, CompactionPlan.from_json)

    def _attempt(self, instant: str, number: int, notes: _Notes) -> Attempt | None:
        claim = self._record(instant, INFLIGHT, number, Claim.from_json)
        if claim is None:
            return None
        has_beat, failed = (HEARTBEAT, number) in notes, (ROLLED_BACK, number) in notes
        beat = self._record(instant, HEARTBEAT, number, _time_of) if has_beat else None
        failure, kind = (
            (self._record(instant, ROLLED_BACK, number, _failure_of) or ("", "")) if failed else (None, None)
        )
        return Attempt(number, claim, beat, (REVOKED, number) in notes, failure, kind)

    def _outcome(self, instant: str, notes: _Notes) -> Outcome | None:
        for note, state in _OUTCOMES.items():
            found = self._record(instant, note, 0, partial(Outcome.from_json, state)) if (note, 0) in notes else None
            if found is not None:
                return found
        return None

    def _record(self, instant: str, note: str, attempt: int, parse: Callable[[bytes], T]) -> T | None:
        """The content of a note; None when it was pruned meanwhile. Raises CorruptMetadataError."""
        data = self._read(instant, note, attempt)
        if data is None:
            return None
        try:
            return parse(data)
        except KeyError as error:
            raise self._damaged(instant, note, attempt, f"{error} is missing") from None
        except (TypeError, AttributeError):
            raise self._damaged(instant, note, attempt, "it is not the JSON object that belongs there") from None
        except ValueError as error:
            raise self._damaged(instant, note, attempt, str(error)) from None

    def _create(self, instant: str, note: str, attempt: int, data: bytes) -> bool:
        return self._io.create(self._paths.compaction_note(instant, note, attempt or None), data)

    def _read(self, instant: str, note: str, attempt: int) -> bytes | None:
        """The text of a note; None when it was pruned meanwhile."""
        try:
            return self._io.read(self._paths.compaction_note(instant, note, attempt or None))
        except StorageError as error:
            if error.missing:
                return None
            raise

    def _damaged(self, instant: str, note: str, attempt: int, reason: str) -> CorruptMetadataError:
        return CorruptMetadataError(
            self._paths.compaction_note(instant, note, attempt or None),
            reason,
            hint="Remove the files of this instant: no rows are in them, and the compaction can be scheduled again.",
        )


def _time_of(heartbeat: bytes) -> int:
    return int(json.loads(heartbeat)["timeMillis"])


def _failure_of(note: bytes) -> tuple[str, str]:
    found = json.loads(note)
    return str(found["reason"]), str(found.get("kind", ""))


def _is_done(notes: Iterable[tuple[str, int]]) -> bool:
    return any(note in _OUTCOMES for note, _ in notes)
