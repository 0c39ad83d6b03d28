"""Executing scheduled compactions: exactly once, completely or not at all, by any process.

A process takes a plan by the atomic create of an attempt, renews the attempt's lease while it works, and commits all
groups as one snapshot under the plan's own commit user. By this user the commit is found again if the process is killed
before it could record it.

An attempt whose lease ran out may belong to a process that is only suspended and would commit later. So it is first
*revoked*, and then *fenced off* by an empty commit: every attempt to commit checks for the revocation after it has read
the newest snapshot, and creates the snapshot after that. If it checked before the revocation, the number of its
snapshot is taken, at the latest by the fence. Only then the attempt's commit is searched, and only if it does not
exist, the attempt's files are removed. The clock decides when a process is suspected, never whether a result is
correct.

A plan that keeps failing with the same error is given up: it is cancelled, so that its buckets can be planned again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event, Thread

from tablestore_engine.errors import (
    CommitOutcomeUnknownError,
    ConflictError,
    StorageError,
    TableStoreError,
)
from tablestore_engine.metadata.compaction_plan import (
    CONFLICT,
    INTERRUPTED,
    LOST,
    Attempt,
    Claim,
    CompactionPlan,
    Outcome,
    PlanState,
    ScheduledCompaction,
    in_order,
)
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import CommitIdentity, new_identity
from tablestore_engine.operation.compact.compact_bucket import run_compaction
from tablestore_engine.operation.compact.compact_task import Compacted, CompactTask, Execute
from tablestore_engine.operation.compact.schedule_compaction import KEPT_PLANS, tasks_of
from tablestore_engine.operation.expiration.orphan_files import files_of_write, named_files
from tablestore_engine.operation.files.rolling_writer import WriteTarget, write_target
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.table_state import TableState

PLAN_PROPERTY = "tablestore.compaction"
"""Property of a snapshot: the instant and attempt of the plan that made it."""
_IDENTIFIER = 1
_BEATS_PER_LEASE = 4
_SHORTEST_PAUSE = 0.05  # seconds


@dataclass(frozen=True)
class PlanResult:
    """The outcome of a plan: completed or cancelled."""

    plan: CompactionPlan
    outcome: Outcome


@dataclass(frozen=True)
class PlanFailure:
    """A failed attempt at a plan, and why. It can be tried again, unless the plan was given up."""

    plan: CompactionPlan
    error: TableStoreError


def execute_here(tasks: Sequence[CompactTask]) -> Compacted:
    """Run tasks one after the other in this process."""
    return Compacted.of(run_compaction(task, f"c{uuid.uuid4().hex[:8]}-") for task in tasks)


def run_next(
    state: TableState, owner: str, now_millis: Callable[[], int], execute: Execute = execute_here
) -> PlanResult | None:
    """Execute the oldest unclaimed plan. None when there is none.

    Args:
        state: the table.
        owner: a name of this process, shown in the timeline.
        now_millis: returns the current time.
        execute: runs tasks; on failure, files may be left.

    Raises:
        CommitOutcomeUnknownError: the storage failed in the commit; the plan is settled when its lease has run out.
        TableStoreError: the attempt failed and was rolled back; the plan can be tried again, unless it was given up.
    """
    for taken in run_each(state, owner, now_millis, execute):
        if isinstance(taken, PlanFailure):
            raise taken.error
        return taken
    return None


def run_each(
    state: TableState, owner: str, now_millis: Callable[[], int], execute: Execute = execute_here
) -> Iterator[PlanResult | PlanFailure]:
    """Execute every unclaimed plan once, those without failures first. See `run_next`.

    Raises:
        TableStoreError: the timeline cannot be read.
    """
    tried: set[str] = set()
    while (taken := _begin_attempt(state, owner, now_millis, execute, tried)) is not None:
        tried.add(taken.plan.instant)
        yield taken


def _begin_attempt(
    state: TableState, owner: str, now_millis: Callable[[], int], execute: Execute, tried: Collection[str]
) -> PlanResult | PlanFailure | None:
    for found in in_order(state.timeline.pending(), now_millis()):
        if found.plan.instant in tried:
            continue
        try:
            result = _settle(state, found, now_millis)
            if result is not None:
                return result
            number = len(found.attempts) + 1
            claim = Claim(owner, str(uuid.uuid4()), now_millis(), state.schema.core_options.compaction_lease_millis)
            if state.timeline.claim(found.plan.instant, number, claim):
                return _attempt(state, found, Attempt(number, claim), now_millis, execute)
        except TableStoreError as error:
            return PlanFailure(found.plan, error)
    return None


# -- an attempt ----------------------------------------------------------------------------------------


def _attempt(
    state: TableState,
    found: ScheduledCompaction,
    attempt: Attempt,
    now_millis: Callable[[], int],
    execute: Execute,
) -> PlanResult:
    timeline, plan = state.timeline, found.plan
    every = max(attempt.claim.lease_millis / 1000 / _BEATS_PER_LEASE, _SHORTEST_PAUSE)
    with beating(lambda: timeline.beat(plan.instant, attempt.number, now_millis()), every):
        try:
            entries = _executed(state, plan, attempt, execute)
        except BaseException as error:
            # Nothing can have been committed yet, whatever the error is, also an interrupt by the user.
            return _failed(state, found, attempt, now_millis, error)
        try:
            snapshot = _committed(state, plan, attempt, entries)
        except CommitOutcomeUnknownError:
            raise  # the snapshot may be there, and then it names the new files
        except TableStoreError as error:
            return _failed(state, found, attempt, now_millis, error)
    return _completed(state, plan, snapshot.id, now_millis)


def _executed(state: TableState, plan: CompactionPlan, attempt: Attempt, execute: Execute) -> list[ManifestEntry]:
    tasks = tasks_of(plan, state)
    if isinstance(tasks, str):
        raise ConflictError(tasks)
    write_id = attempt.claim.write_id
    return execute([replace(task, target=replace(task.target, write_id=write_id)) for task in tasks]).entries


def _committed(state: TableState, plan: CompactionPlan, attempt: Attempt, entries: Sequence[ManifestEntry]) -> Snapshot:
    def check_lease() -> None:
        if state.timeline.is_revoked(plan.instant, attempt.number):
            raise ConflictError("The lease of this compaction ran out, and another process has taken it over.")

    change = Change(
        "COMPACT",
        added=tuple(e for e in entries if e.kind == FileKind.ADD),
        removed=tuple(e for e in entries if e.kind == FileKind.DELETE),
        guard=check_lease,
    )
    intent = WriteIntent(
        properties={PLAN_PROPERTY: f"{plan.instant}/{attempt.number}"},
        identity=CommitIdentity(plan.commit_user, _IDENTIFIER),
    )
    return publish_change(state, change, intent).snapshot


def _failed(
    state: TableState,
    found: ScheduledCompaction,
    attempt: Attempt,
    now_millis: Callable[[], int],
    error: BaseException,
) -> PlanResult:
    """Roll back this process's attempt, which will not commit. Raises its error, unless the plan is finished."""
    remove_files(_target(state, attempt))
    result = None
    with suppress(StorageError):
        result = _result_of_ended_plan(state, found.plan, now_millis)
        if result is None:
            reason = str(error) or type(error).__name__
            _rolled_back(state, found, attempt, now_millis, reason, _kind_of(error))
    if result is None or not isinstance(error, TableStoreError):
        raise error
    return result


def _kind_of(error: BaseException) -> str:
    if isinstance(error, ConflictError):
        return CONFLICT
    return type(error).__name__ if isinstance(error, Exception) else INTERRUPTED


def _rolled_back(
    state: TableState,
    found: ScheduledCompaction,
    attempt: Attempt,
    now_millis: Callable[[], int],
    reason: str,
    kind: str,
) -> PlanResult | None:
    """Record that an attempt is rolled back. Returns a result if the plan is given up."""
    result = None
    if found.is_hopeless(kind):
        # Before the attempt ends, so that no other one begins.
        message = f"Given up after {attempt.number} attempts. {reason}"
        result = _finished(state, found.plan, Outcome(PlanState.CANCELLED, now_millis(), message=message))
    state.timeline.roll_back(found.plan.instant, attempt.number, reason, kind)
    return result


@contextmanager
def beating(beat: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Call `beat` again and again while the block runs; the next beat makes up for a failed one."""
    stop = Event()

    def run() -> None:
        while not stop.wait(every_seconds):
            with suppress(TableStoreError):
                beat()

    thread = Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


# -- attempts of other processes -----------------------------------------------------------------------


def _settle(state: TableState, found: ScheduledCompaction, now_millis: Callable[[], int]) -> PlanResult | None:
    """Settle the last attempt: remove its files, unless it was committed.

    Returns a result if it was committed, or if the plan is given up because too many attempts were lost.
    """
    last, plan = found.last, found.plan
    if last is None or last.failure is not None:
        return None
    state.timeline.revoke(plan.instant, last.number, new_identity(state.schema.core_options, "compact").user)
    fence_off(state)
    committed = _snapshot_of(state, plan)
    if committed is not None:
        return _completed(state, plan, committed.id, now_millis)
    left = files_of_write(state, last.claim.write_id)
    if left:
        named = named_files(state)
        if any(one.name in named for one in left):
            # Committed so long ago that the snapshot itself has expired.
            return _completed(state, plan, None, now_millis)
        for one in left:
            state.io.delete(one.path)
    return _rolled_back(state, found, last, now_millis, f"the lease of {last.claim.owner} ran out", LOST)


def fence_off(state: TableState) -> None:
    """Commit the snapshot number that a process which has not seen its revocation would use."""
    identity = new_identity(state.schema.core_options, "fence")
    # If another commit takes the number first, that is enough; a replaced table conflicts with the attempt, too.
    with suppress(ConflictError):
        publish_change(state, Change("COMPACT"), WriteIntent(identity=identity))


def _result_of_ended_plan(state: TableState, plan: CompactionPlan, now_millis: Callable[[], int]) -> PlanResult | None:
    """The outcome of a plan that need not run: it was committed already, or is void. None when it can run."""
    obstacle = tasks_of(plan, state)
    if not isinstance(obstacle, str):
        return None
    committed = _snapshot_of(state, plan)
    if committed is not None:
        return _completed(state, plan, committed.id, now_millis)
    return _finished(state, plan, Outcome(PlanState.CANCELLED, now_millis(), message=obstacle))


def _snapshot_of(state: TableState, plan: CompactionPlan) -> Snapshot | None:
    """The snapshot that an attempt at a plan has committed."""
    return state.snapshots.find_by_identifier(plan.commit_user, _IDENTIFIER, kind="COMPACT", after=plan.snapshot_id)


def _completed(
    state: TableState, plan: CompactionPlan, snapshot_id: int | None, now_millis: Callable[[], int]
) -> PlanResult:
    return _finished(state, plan, Outcome(PlanState.COMPLETED, now_millis(), snapshot_id))


def _finished(state: TableState, plan: CompactionPlan, outcome: Outcome) -> PlanResult:
    state.timeline.finish(plan.instant, outcome)
    with suppress(StorageError):
        state.timeline.prune(KEPT_PLANS)
    return PlanResult(plan, outcome)


def _target(state: TableState, attempt: Attempt) -> WriteTarget:
    return replace(write_target(state), write_id=attempt.claim.write_id)
