"""Playing steps on a table: writes of all kinds and what may come between them.

A *step* is a verb and what it is about. Writes: `write`, `leave`, `buffer` (through a tiny write buffer, which spills),
`begin` (files are written, on the snapshot of now) and `end` (one that was begun is committed, or is lost to a
conflict); `race` begins two writes at once, of half of its rows each, and ends both in any order; `overtaken` ends a
write of its rows after some of them were written once more and compacted; `overwrite` of one row's partition,
`truncate`. Compactions: `compact` as thresholds ask, `full`, `newest` runs of any number, `schedule` and `run` by the
timeline. Writes are numbered in the order in which they began: that is the order of their records, whenever they were
committed.

In a table with deletion vectors a compaction follows each write, as statements have it, but for that of `leave`, and
`write` takes two commits, which it merges at once. Records are in the order in which they are merged there, whenever
their write began, so none conflicts with others; a delete is forgotten once it was merged. Nothing is scheduled.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from support.past import Past
from support.tables import PUT, compact, compact_newest, identity, new_job, write, write_files
from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.compact.auto_compaction import merge_unread
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import run_next
from tablestore_engine.operation.write.write_buffer import BufferSizes
from tablestore_engine.operation.write_job.hash_index_change import index_change

WRITES = ("write", "leave", "buffer", "begin", "race", "overtaken")
NUMBERS_OF_A_WRITE = 1_000  # each layer takes one
_VERBS = (
    *("write",) * 4, "leave", "buffer", "buffer", "begin", "begin", "end", "end", "race", "overtaken",
    "compact", "compact", "full", "newest", "newest", "schedule", "run", "run",
)  # fmt: skip
_ABOUT = {
    "end": st.integers(0, 2),
    "newest": st.integers(1, 4),
    "schedule": st.sampled_from(["minor", "full"]),
    "overwrite": st.integers(0, 9),
}


@st.composite
def steps_of(draw, rows, more=()):
    """One step; `rows` are those that a write takes, with their kinds, and `more` are further verbs."""
    verb = draw(st.sampled_from([*_VERBS, *more]))
    return verb, draw(rows if verb in WRITES else _ABOUT.get(verb, st.none()))


@dataclass
class Begun:
    """A write whose files are there: what to commit, and its rows with their kinds."""

    job: Any
    result: Any
    base_snapshot_id: int
    rows: list


class Player:
    """A table, and the rows that its writes gave it. `pieces`: how many rows come to the write buffer at a time."""

    def __init__(self, table, *, pieces=3):
        self.table = table
        self.committed = []  # the number of a write, its rows with kinds
        self._waiting = []  # the same of those that readers leave out until they are merged
        self._pieces = pieces
        self._begun = []
        self._numbers = itertools.count(0, NUMBERS_OF_A_WRITE)
        self._millis = itertools.count(1_700_000_000_000, 1_000)

    def records(self):
        """All rows with kinds, in order."""
        ordered = self.committed if self._merges else sorted(self.committed, key=lambda of: of[0])
        return [one for _, rows in ordered for one in rows]

    def take(self, verb, what):
        """Take one step."""
        getattr(self, f"_{verb}")(what)
        if verb in ("compact", "full", "newest"):
            self._merge()  # what is left in some buckets

    @property
    def _merges(self):
        return self.table.schema.reads_files_alone

    def _write(self, rows):
        if self._merges and len(rows) > 1:
            self._commit(self._prepared(rows[: len(rows) // 2]), merges=False)
            rows = rows[len(rows) // 2 :]
        self._commit(self._prepared(rows))

    def _leave(self, rows):
        self._commit(self._prepared(rows), merges=False)

    def _race(self, rows):
        self._begin(rows[: len(rows) // 2])
        self._begin(rows[len(rows) // 2 :])
        self._end(len(self._begun) - (1 if len(rows) % 3 == 0 else 2))
        self._end(len(self._begun) - 1)

    def _buffer(self, rows):
        self._commit(self._prepared(rows, pieces=self._pieces, sizes=BufferSizes(300, 600)))

    def _begin(self, rows):
        self._begun.append(self._prepared(rows))

    def _overtaken(self, rows):
        self._write(rows[::2])
        self._begin(rows[::-1])
        self._write(rows[1::2])
        self._full(None)
        self._end(len(self._begun) - 1)

    def _end(self, which):
        if not self._begun:
            return
        begun = self._begun.pop(which % len(self._begun))
        latest = self.table.latest_snapshot()
        try:
            self._commit(begun)
        except ConflictError:
            assert latest is not None
            assert latest.id > begun.base_snapshot_id, "nobody was there to conflict with"
            assert not self._merges or self.table.schema.has_dynamic_buckets, "what is merged later is newer"

    def _overwrite(self, which):
        rows = [row for row, kind in self.records() if kind in (0, 2)]
        if not rows:
            return
        row, names = rows[which % len(rows)], self.table.schema.partition_keys
        partition = PartitionFormat(self.table.schema).encode(tuple(row[n] for n in names))
        job = new_job(self.table, into_empty=True, sequence=next(self._numbers))
        write(self.table, [row], kind="OVERWRITE", job=job, replaces=lambda entry: entry.partition == partition)
        self.committed = [
            (number, [(r, k) for r, k in rows if any(r[n] != row[n] for n in names)]) for number, rows in self.committed
        ]
        self.committed.append((job.sequence_number, [(row, PUT)]))

    def _truncate(self, _):
        job = new_job(self.table, sequence=next(self._numbers))
        write(self.table, [], kind="OVERWRITE", job=job, replaces=lambda entry: True)
        self.committed.clear()

    def _compact(self, _):
        compact(self.table, full=False)

    def _full(self, _):
        compact(self.table)

    def _newest(self, count):
        if self.table.schema.primary_keys:
            compact_newest(self.table, count)
        else:  # no run is newer than another
            compact(self.table, full=False)

    def _schedule(self, strategy):
        if self._merges:
            return
        schedule(self.table.state, strategy, next(self._millis))

    def _run(self, _):
        run_next(self.table.state, "test", lambda: next(self._millis))

    def _prepared(self, rows, **how):
        snapshot = self.table.latest_snapshot()
        job = new_job(self.table, sequence=next(self._numbers))
        kinds = [kind for _, kind in rows] if self.table.schema.primary_keys else None
        result = write_files(job, [row for row, _ in rows], kinds, **how)
        return Begun(job, result, snapshot.id if snapshot else 0, rows)

    def _commit(self, begun, *, merges=True):
        change = Change(
            "APPEND",
            tuple(begun.result.entries),
            base_snapshot_id=begun.base_snapshot_id,
            index=index_change(begun.job, begun.result),
        )
        Committer(self.table.state.with_schema(begun.job.schema)).commit(change, identity())
        written = {entry.file.file_name for entry in begun.result.entries}
        unread = self._merges and any(
            entry.file.level == 0 and entry.file.file_name in written for entry in self.table.live_files()
        )
        (self._waiting if unread else self.committed).append((begun.job.sequence_number, begun.rows))
        if merges:
            self._merge()

    def _merge(self):
        merge_unread(self.table.state)
        self.committed += sorted(self._waiting, key=lambda of: of[0])
        self._waiting.clear()


def play(player, steps, expected, shown):
    """Take the steps. After each, the rows of the table are those that `expected` makes of all records; in the end,
    every snapshot is as it was (see `past`). `shown` makes rows comparable: a list of rows in any order.
    """
    past = Past(shown)
    for number, (verb, what) in enumerate(steps):
        note(f"{number}: {verb} {what}")
        player.take(verb, what)
        past.check(player.table, shown(expected(player.records())))
    past.check_all(player.table, Random(repr(steps)))
