"""Metadata at scale: a table of 100,000 files in 10,000 partitions, and one of 10,000 commits.

The files are entries of manifests only; the one that each commit of one row adds is real. What is called cold runs in a
new process, whose time begins after its imports. No Spark: this is the time of the engine by itself.

    python -m benchmarks.metadata_scale [--small]
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.measure import Report, Used, often, once, used_by
from tablestore_engine.catalog import Catalog
from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta, SimpleStats
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.table import Table

COLUMNS = {"p": "INT", "id": "BIGINT", "name": "STRING", "amount": "DOUBLE", "day": "DATE", "note": "STRING"}
TYPES = [parse_type(one) for one in COLUMNS.values()]
KEY = [TYPES[1]]
OPTIONS = {
    "bucket": "1",
    "snapshot.time-retained": "1000 d",
    "num-sorted-run.compaction-trigger": "100000",  # the files are not there
}
FILE_ROWS = 1_000
PLAN_SECONDS, COMMIT_SECONDS = 1.0, 0.5
ROUNDS = 5


@dataclass(frozen=True)
class Size:
    """Files, partitions and commits of the two tables."""

    files: int = 100_000
    partitions: int = 10_000
    files_per_commit: int = 1_000
    commits: int = 10_000
    commit_partitions: int = 100


SMALL = Size(files=2_000, partitions=200, files_per_commit=100, commits=100, commit_partitions=10)


def run(report: Report, work: Path, size: Size | None = None) -> None:
    """Add the lines of both tables to a report."""
    size = size or Size()
    warehouse = work / "metadata"
    catalog = Catalog(warehouse)
    _fill_files(_table(catalog, "files"), size)
    _measure(report, warehouse, "files", f"{size.files:,} files in {size.partitions:,} partitions", size.partitions)
    commits = _fill_commits(_table(catalog, "commits"), size)
    _note_commits(report, commits)
    _measure(report, warehouse, "commits", f"{size.commits:,} commits", size.commit_partitions)
    _expire(report, warehouse, size)


def _table(catalog: Catalog, name: str) -> Table:
    columns = [(column, kind, None) for column, kind in zip(COLUMNS, TYPES, strict=True)]
    return catalog.create_table("default", name, create_schema(columns, ["p", "id"], ["p"], OPTIONS))


def _fill_files(table: Table, size: Size) -> None:
    """Every commit adds files to partitions picked at random, as late rows do."""
    numbers = list(range(size.files))
    random.Random(7).shuffle(numbers)  # noqa: S311 - the same order each time
    for begin in range(0, size.files, size.files_per_commit):
        added = [_entry(one % size.partitions, one, 5) for one in numbers[begin : begin + size.files_per_commit]]
        _commit(table, added)


def _fill_commits(table: Table, size: Size) -> list[float]:
    """Every commit adds a file at level 0 to one partition. Returns the time of each."""
    return [
        once(lambda number=number: _commit(table, [_entry(number % size.commit_partitions, number, 0)]))
        for number in range(size.commits)
    ]


def _commit(table: Table, added: list[ManifestEntry]) -> None:
    publish_change(table.state, Change("APPEND", added=tuple(added)))


def _entry(partition: int, number: int, level: int) -> ManifestEntry:
    """A file of 1,000 rows with statistics of all columns; files of one partition have different keys."""
    low, high = number * FILE_ROWS, (number + 1) * FILE_ROWS - 1
    bounds = [
        encode_row([partition, one, f"customer-{one:012d}", one / 7, None, f"note of {one}"], TYPES)
        for one in (low, high)
    ]
    keys = [encode_row([one], KEY) for one in (low, high)]
    name = f"data-{random.Random(number).getrandbits(128):032x}-{number}.parquet"  # noqa: S311 - the same each time
    file = DataFileMeta(
        name, 250_000 + number, FILE_ROWS, keys[0], keys[1], SimpleStats(keys[0], keys[1], (0,)),
        SimpleStats(bounds[0], bounds[1], (0, 0, 0, 0, FILE_ROWS, 0)), number, number, 0, level,
        creation_time_millis=1_700_000_000_000 + number, delete_row_count=0, file_source=0,
    )  # fmt: skip
    return ManifestEntry(FileKind.ADD, encode_row([partition], TYPES[:1]), 0, 1, file)


def _measure(report: Report, warehouse: Path, name: str, what: str, partitions: int) -> None:
    middle = partitions // 2
    plan = _cold(plan_one, warehouse, name, middle)
    report.add(f"{what}: cold plan of one partition", plan.wall, PLAN_SECONDS, 1)
    commit = _cold(commit_row, warehouse, name, middle)
    report.add(f"{what}: commit of one row, the first of a process", commit.wall, COMMIT_SECONDS, 1)
    table = Catalog(warehouse).load_table("default", name)
    rows = iter(range(10**9))
    used = [used_by(lambda: _write_row(table, middle + next(rows) % 3)) for _ in range(often(ROUNDS * 4))]
    report.add(f"{what}: commit of one row, later", statistics.median(u.wall for u in used), COMMIT_SECONDS, 1)
    report.note(f"{what}: the slowest of {len(used)} later commits {max(u.wall for u in used):.2f} s")
    report.note(f"{what}: cold plan of all files {_cold(plan_all, warehouse, name, 0).wall:.2f} s")
    report.note(f"{what}: cold list of all partitions {_cold(list_partitions, warehouse, name, 0).wall:.2f} s")
    report.note(f"{what}: cold list of the tables {_cold(list_tables, warehouse, name, 0).wall:.3f} s")
    report.note(f"{what}: cold list of all snapshots {_cold(list_snapshots, warehouse, name, 0).wall:.2f} s")


def _note_commits(report: Report, commits: list[float]) -> None:
    tenth = max(1, len(commits) // 10)
    first, last = statistics.median(commits[:tenth]), statistics.median(commits[-tenth:])
    report.add(f"the last tenth of {len(commits):,} commits ÷ the first", last, first, 2)
    mean = statistics.fmean(commits)
    report.note(f"{len(commits):,} commits: mean {mean * 1000:.1f} ms, slowest {max(commits):.2f} s")


def _expire(report: Report, warehouse: Path, size: Size) -> None:
    table = Catalog(warehouse).load_table("default", "commits")
    step = min(50, size.commits // 4)
    used = used_by(lambda: table.expire_snapshots(Retention(1, 1, 0, step)))
    report.note(f"{size.commits:,} commits: expiry of {step} snapshots {used.wall:.2f} s")
    used = used_by(lambda: table.expire_snapshots(Retention(1, 1, 0, size.commits * 2)))
    report.note(f"{size.commits:,} commits: expiry of all others {used.wall:.2f} s")


def _cold(action: Callable[[Table, int], object], warehouse: Path, name: str, partition: int) -> Used:
    """The least time of an action in new processes, from loading the table on."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        given = (action, str(warehouse), name, partition)
        return Used.least([pool.apply(_in_new_process, given) for _ in range(often(ROUNDS))])


def _in_new_process(action: Callable[[Table, int], object], warehouse: str, name: str, partition: int) -> Used:
    return used_by(lambda: action(Catalog(warehouse).load_table("default", name), partition))


def plan_one(table: Table, partition: int) -> None:
    """Plan a read of one partition."""
    plan = table.scan(predicate=Compare("p", "=", partition))
    assert {bucket.partition for bucket in plan.buckets} == {(partition,)}


def plan_all(table: Table, partition: int) -> None:
    """Plan a read of all."""
    assert table.scan().buckets


def commit_row(table: Table, partition: int) -> None:
    """Write one row and do what follows."""
    _write_row(table, partition)


def list_partitions(table: Table, partition: int) -> None:
    """The partitions that have files."""
    assert {entry.partition for entry in table.live_files()}


def list_tables(table: Table, partition: int) -> None:
    """The tables of the schema."""
    assert len(Catalog(str(Path(table.path).parent.parent)).list_tables("default")) in (1, 2)


def list_snapshots(table: Table, partition: int) -> None:
    """All snapshots."""
    assert table.snapshots()


def _write_row(table: Table, partition: int) -> None:
    values: dict[str, Any] = {"p": partition, "id": 1, "name": "x", "amount": 1.0, "day": None, "note": None}
    kinds = [pa.int32(), pa.int64(), pa.string(), pa.float64(), pa.date32(), pa.string()]
    columns = {name: pa.array([values[name]], kind) for name, kind in zip(COLUMNS, kinds, strict=True)}
    table.write(pa.table(columns))


def main() -> None:
    """Print the figures alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="2,000 files and 100 commits: shows that all work")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory() as work:
        run(Report(), Path(work), SMALL if small else None)


if __name__ == "__main__":
    main()
