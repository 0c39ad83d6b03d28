"""What a history has seen of a table: no later step may change what a snapshot reads as."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from support.files import live_entries
from support.invariants import check_invariants, check_snapshots
from support.tables import read


@dataclass
class Past:
    """The snapshots of a table when they were made. `shown` makes rows comparable: a list of rows in any order."""

    shown: Any
    files: dict = field(default_factory=dict)  # of each data file that was read, the digest of its bytes
    rows: dict = field(default_factory=dict)  # of each snapshot, the rows that it had when it was made
    live: dict = field(default_factory=dict)  # and its files
    last: Any = None
    repeated: bool = False  # the last step made no snapshot

    def check(self, table, wanted):
        """After a step: the table has these rows.

        Files that were read need no second look. So a table whose snapshot is known is not read: it has the files
        that it had.
        """
        latest = table.latest_snapshot()
        self.repeated = latest is not None and latest.id == self.last
        if self.repeated:
            assert wanted == self.rows[self.last], "a step without a commit changed nothing"
            assert live_entries(table) == self.live[self.last]
            return
        found = read(table)
        assert self.shown(found) == wanted
        assert table.statistics().row_count == len(found)
        check_invariants(table, self.files)
        if latest is not None:
            self.last = latest.id
            self.rows[latest.id], self.live[latest.id] = wanted, live_entries(table)

    def check_all(self, table, random):
        """In the end: every snapshot names its files, whose bytes are the same; the oldest and one more are read."""
        check_snapshots(table, self.live, self.files)
        kept = [one for one in table.snapshots() if one.id in self.rows]  # a step may make several
        old, newest = kept[:-1], kept[-1:]
        chosen = [*old[:1], *([random.choice(old[1:])] if old[1:] else []), *(newest if self.repeated else [])]
        for snapshot in chosen:
            assert self.shown(read(table, snapshot=snapshot)) == self.rows[snapshot.id], snapshot.id
        if kept:
            start, end = sorted(random.choice([0, *(one.id for one in kept)]) for _ in range(2))
            self.check_changes(table, start, max(end, kept[0].id))

    def check_changes(self, table, start, end):
        """The changes between two snapshots lead from the rows of one to those of the other."""
        added, removed = [], []
        for row in table.changes(start, end).to_pylist():
            (removed if row.pop("_row_kind") in ("-U", "-D") else added).append(row)
        before = comparable(self.rows[start] if start else [])
        taken = comparable(self.shown(removed))
        assert not taken - before, f"rows that were not there at {start} are taken back up to {end}"
        led_to = before - taken + comparable(self.shown(added))
        assert led_to == comparable(self.rows[end]), f"changes from {start} to {end}"
        unchanged = comparable(self.shown(added)) & taken
        assert not unchanged, f"rows that did not change are among the changes from {start} to {end}"


def comparable(rows):
    """Rows as a multiset. Those of a table without a key are one already."""
    return Counter(map(_frozen, rows.elements() if isinstance(rows, Counter) else rows))


def _frozen(value):
    if isinstance(value, dict):
        return tuple(sorted(((name, _frozen(one)) for name, one in value.items()), key=repr))
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    return repr(value + 0.0) if isinstance(value, float) else value
