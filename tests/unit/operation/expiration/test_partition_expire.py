"""Partitions that are dropped or expire."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from support.invariants import check_invariants
from support.tables import compact, make_table, new_job, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError, UserError
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.expiration.partition_expire import (
    PartitionRetention,
    expire_when_due,
    is_check_due,
)
from tablestore_engine.operation.table_commands.after_commit import follow
from tablestore_engine.operation.table_commands.metadata_commands import drop_partitions, expire_partitions
from tablestore_engine.operation.transaction.transaction import Committed
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore

DAY, HOUR = 86_400_000, 3_600_000
NOW = datetime(2024, 2, 1)
NOW_MILLIS = int(NOW.timestamp() * 1000)


def retention(days, **more):
    given = {"strategy": "values-time", "pattern": None, "formatter": None, "limit": 100, **more}
    return PartitionRetention(days * DAY, **given)


def new_table(warehouse, kind="STRING", keyed=True, **options):
    columns = {"dt": kind, "id": "INT"}
    stored = {"write-only": "true", **options}
    return make_table(warehouse, columns, ["dt", "id"] if keyed else [], ["dt"], stored)


@pytest.fixture
def table(tmp_path):
    found = new_table(tmp_path)
    days = [(NOW - timedelta(days=n)).date().isoformat() for n in range(5)]
    write(found, [{"dt": dt, "id": n} for dt in days for n in range(2)])
    return found


def days_of(table):
    return sorted({row["dt"] for row in read(table)})


def test_old_partitions_go_in_one_commit(table):
    assert expire_partitions(table.state, retention(2), NOW_MILLIS) == ["dt=2024-01-28", "dt=2024-01-29"]
    assert days_of(table) == ["2024-01-30", "2024-01-31", "2024-02-01"], "one of exactly that age stays"
    assert [s.commit_kind for s in table.snapshots()] == ["APPEND", "OVERWRITE"]
    check_invariants(table)
    assert len(read(table, snapshot=table.snapshot(1))) == 10, "earlier snapshots still have them"
    assert expire_partitions(table.state, retention(2), NOW_MILLIS) == []
    assert len(table.snapshots()) == 2


def test_not_more_than_the_limit_at_once_the_oldest_first(table):
    assert expire_partitions(table.state, retention(1, limit=1), NOW_MILLIS) == ["dt=2024-01-28"]
    assert expire_partitions(table.state, retention(1, limit=1), NOW_MILLIS) == ["dt=2024-01-29"]


def test_partitions_without_a_time_stay(table):
    write(table, [{"dt": "unknown", "id": 1}])
    assert expire_partitions(table.state, retention(0), NOW_MILLIS + DAY, strict=True)
    assert days_of(table) == ["unknown"]
    with pytest.raises(UserError, match=r"None of the partitions.*dt=unknown.*timestamp_formatter"):
        expire_partitions(table.state, retention(0), NOW_MILLIS, strict=True)
    assert expire_partitions(table.state, retention(0), NOW_MILLIS) == []


def test_null_stays(tmp_path):
    table = new_table(tmp_path, keyed=False)
    write(table, [{"dt": None, "id": 1}, {"dt": "2020-01-01", "id": 2}])
    assert expire_partitions(table.state, retention(1), NOW_MILLIS, strict=True) == ["dt=2020-01-01"]
    assert read(table) == [{"dt": None, "id": 1}]


def test_dates(tmp_path):
    table = new_table(tmp_path, "DATE")
    write(table, [{"dt": NOW.date() - timedelta(days=n), "id": 1} for n in range(3)])
    assert expire_partitions(table.state, retention(1), NOW_MILLIS) == ["dt=2024-01-30"]


def test_by_the_last_change(table):
    changed = max(e.file.creation_time_millis for e in table.live_files())
    by_change = retention(1, strategy="update-time", pattern="$nothing")
    assert expire_partitions(table.state, by_change, changed + DAY) == []
    write(table, [{"dt": "2024-01-28", "id": 7}])
    written = max(e.file.creation_time_millis for e in table.live_files())
    removed = expire_partitions(table.state, by_change, changed + DAY + 1)
    assert len(removed) == (4 if written > changed else 5)


def test_a_table_whose_partitions_stay_reads_no_snapshot(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"dt": "STRING", "id": "INT"}, partition_keys=["dt"])
    write(table, [{"dt": "2020-01-01", "id": 1}])
    monkeypatch.setattr(SnapshotStore, "latest", lambda store: pytest.fail("reads the newest snapshot"))
    assert expire_when_due(table.state, NOW_MILLIS) == []


def test_a_table_without_partitions(tmp_path):
    plain = make_table(tmp_path, {"id": "INT"})
    with pytest.raises(UserError, match="is not partitioned"):
        expire_partitions(plain.state, retention(1), NOW_MILLIS)


def test_drop(table):
    partition_format = PartitionFormat(table.schema)
    assert drop_partitions(table.state, []) is None
    drop_partitions(table.state, {partition_format.encode(("2024-01-31",)), partition_format.encode(("2024-01-30",))})
    assert days_of(table) == ["2024-01-28", "2024-01-29", "2024-02-01"]
    check_invariants(table)


def test_old_snapshots_expire_after_it(tmp_path):
    """As after any other commit; a table without due partitions is not committed to."""
    retained = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1", "snapshot.time-retained": "1 ms"}
    table = new_table(tmp_path, **{"write-only": "false", **retained})
    for day in ("2024-01-01", "2024-01-31"):
        write(table, [{"dt": day, "id": 1}])
    assert expire_partitions(table.state, retention(2), NOW_MILLIS) == ["dt=2024-01-01"]
    assert [one.id for one in table.snapshots()] == [3]
    assert expire_partitions(table.state, retention(2), NOW_MILLIS) == []
    assert [one.id for one in table.snapshots()] == [3]


@pytest.mark.parametrize(
    ("before", "now", "due"),
    [
        (5 * HOUR, 5 * HOUR + 1, False),
        (6 * HOUR - 1, 6 * HOUR, True),
        (5 * HOUR, 7 * HOUR, True),
        (0, 0, False),
    ],
)
def test_once_in_an_interval(before, now, due):
    assert is_check_due(before, now, HOUR) is due
    assert is_check_due(before, now, 0)


def test_commits_look_for_them(tmp_path):
    table = new_table(tmp_path, **{"write-only": "false", "partition.expiration-time": "2 d",
                                   "partition.expiration-check-interval": "0"})  # fmt: skip
    today = datetime.now().date()
    rows = [{"dt": (today - timedelta(days=n)).isoformat(), "id": 1} for n in range(5)]
    write(table, rows)
    follow(Committed(table.state, table.latest_snapshot()))
    assert len(days_of(table)) in (2, 3), "at midnight one more"
    assert len(table.snapshots()) == 2
    follow(Committed(table.state, table.latest_snapshot()))
    assert len(table.snapshots()) == 2


def test_commits_of_one_interval_look_once(tmp_path):
    table = new_table(tmp_path, **{"partition.expiration-time": "1 d",
                                   "partition.expiration-check-interval": "1000000 d"})  # fmt: skip
    write(table, [{"dt": "2020-01-01", "id": 1}])
    write(table, [{"dt": "2020-01-01", "id": 1}])
    compact(table)
    assert expire_when_due(table.state, NOW_MILLIS) == [], "the first write was in this interval"
    catalog = Catalog(os.path.dirname(os.path.dirname(table.path)))
    often = catalog.alter_table("default", "t", [SetOption("partition.expiration-check-interval", "0")])
    assert expire_when_due(often.state, NOW_MILLIS) == ["dt=2020-01-01"]


def test_the_first_write_looks_too(tmp_path):
    table = new_table(tmp_path, **{"partition.expiration-time": "1 d"})
    write(table, [{"dt": "2020-01-01", "id": 1}, {"dt": "2100-01-01", "id": 1}])
    assert expire_when_due(table.state, NOW_MILLIS) == ["dt=2020-01-01"]


class OvertakenOnce(SnapshotStore):
    """Others commit between the first look at the newest snapshot and the second."""

    def __init__(self, io, paths, others):
        super().__init__(io, paths)
        self._steps = iter([lambda: None, others])

    def latest(self):
        next(self._steps, lambda: None)()
        return super().latest()


def test_a_partition_that_is_written_to_meanwhile_does_not_go_by_its_last_change(table):
    by_change = retention(1, strategy="update-time")
    later = NOW_MILLIS * 2

    def others():
        job = new_job(table)
        job = replace(job, target=replace(job.target, creation_time_millis=later))
        write(table, [{"dt": "2024-01-28", "id": 7}], job=job)

    state = replace(table.state, snapshots=OvertakenOnce(table.io, table.paths, others))
    with pytest.raises(ConflictError, match=r"Partition dt=2024-01-28 .*got new files"):
        expire_partitions(state, by_change, later)
    assert len(days_of(table)) == 5
    assert {row["id"] for row in read(table) if row["dt"] == "2024-01-28"} == {0, 1, 7}
    removed = expire_partitions(table.state, by_change, later)
    assert len(removed) == 4, "the next time the others go"
    assert days_of(table) == ["2024-01-28"]
