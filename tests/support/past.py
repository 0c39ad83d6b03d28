"""What a history has seen of a table: no later step may change what a snapshot reads as."""

from __future__ import annotations

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
