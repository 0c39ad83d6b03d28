"""`python -m benchmarks.changelogs`: what it costs to write a changelog, and to read the changes of a commit.

Unless a line says otherwise, figures are seconds of processor time: other work on the machine matters less. Spark is
not used.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Report, Used, used_by
from tablestore_engine import TableStore
from tablestore_engine.table import Table

ORDERS, CUSTOMERS, CHANGED = 1_500_000, 150_000, (15_000, 150)
DAYS = 2_400
SNAPSHOTS, PER_SNAPSHOT = 100, 20_000
UPSERTS = 10


def changes_of_one_snapshot(report: Report, work: Path) -> None:
    """The changes of the last of many snapshots, without Spark, and a read of the files that it added."""
    random = np.random.default_rng(1)
    for what, key, options in (
        ("a table without a key", [], {"write-only": "true"}),
        ("changelog-producer lookup", ["id"], {"changelog-producer": "lookup"}),
    ):
        table = _table(work / "changes" / what.split()[-1], key, options)
        before, old = 0, set[Path]()
        for number in range(SNAPSHOTS):
            rows = _rows(random.integers(0, ORDERS, PER_SNAPSHOT), random)
            if number == SNAPSHOTS - 1:
                newest = table.latest_snapshot()
                assert newest is not None
                before, old = newest.id, _files(table)
            table.write(rows)
        files = [str(path) for path in _files(table) - old if path.name.startswith("changelog-" if key else "data-")]
        read = lambda table=table, before=before, key=key: table.changes(before, recorded=bool(key))  # noqa: E731
        direct = lambda files=files: [pq.read_table(one) for one in files]  # noqa: E731
        assert read().num_rows == sum(one.num_rows for one in direct())
        both = [[used_by(lambda one=one: [one() for _ in range(50)]) for one in (read, direct)] for _ in range(3)]
        mine, base = (Used.least(each).processor for each in zip(*both, strict=True))
        report.add(f"changes of the last of {SNAPSHOTS} snapshots ÷ reading its files: {what}", mine, base, 1.5)


def _files(table: Table) -> set[Path]:
    return set(Path(table.path).glob("bucket-*/*"))


def upserts(report: Report, work: Path) -> None:
    """Upserts with a changelog, by those without: the first one of a process, and later ones."""
    for changed in CHANGED:
        first, later = {}, {}
        for producer in ("none", "lookup"):
            table, batches = _upserted(work / f"{producer}-{changed}", producer, changed)
            first[producer] = used_by(lambda batches=batches, table=table: table.write(batches[0]))
            upsert = lambda some, table=table: [table.write(one) for one in some]  # noqa: E731
            upsert(batches[1:UPSERTS])
            later[producer] = used_by(lambda batches=batches, upsert=upsert: upsert(batches[UPSERTS:]))
        what = f"the first upsert of {changed:,} rows with producer lookup ÷ none"
        report.add(what, first["lookup"].processor, first["none"].processor)
        what = f"{UPSERTS} more upserts after {UPSERTS} of {changed:,} rows with producer lookup ÷ none"
        _add(report, what, later["lookup"], later["none"], 2.0)


def compactions(report: Report, work: Path) -> None:
    """Compactions with a changelog, by those without."""
    for changed in CHANGED:
        found = {}
        for producer in ("none", "full-compaction"):
            folder = work / f"compacted-{producer}-{changed}"
            table, batches = _upserted(folder, producer, changed)
            for one in batches[:UPSERTS]:
                table.write(one)
            compact = lambda folder=folder: TableStore(folder).execute("call sys.compact(table => 't')")  # noqa: E731
            found[producer] = used_by(compact)
        what = f"compaction after {UPSERTS} upserts of {changed:,} rows with producer full-compaction ÷ none"
        _add(report, what, found["full-compaction"], found["none"], 1.3)


def _upserted(folder: Path, producer: str, changed: int) -> tuple[Table, list[pa.Table]]:
    """A table with all orders, and upserts for it."""
    random = np.random.default_rng(2)
    table = _table(folder, ["id"], {"changelog-producer": producer})
    table.write(_rows(np.arange(ORDERS), random))
    return table, [_rows(random.integers(0, ORDERS, changed), random) for _ in range(2 * UPSERTS)]


def _add(report: Report, what: str, mine: Used, base: Used, bar: float) -> None:
    report.add(what, mine.processor, base.processor, bar)
    report.add(f"{what}, by the clock", mine.wall, base.wall)


def _table(warehouse: Path, key: list[str], options: dict[str, str]) -> Table:
    store = TableStore(warehouse)
    columns = {"id": "int", "customer": "int", "day": "int", "amount": "bigint", "note": "string"}
    return store.create_table("t", columns, primary_key=key, options={"bucket": "2" if key else "-1", **options})


def _rows(ids: np.ndarray, random: np.random.Generator) -> pa.Table:
    count = len(ids)
    columns = {
        "id": pa.array(ids, pa.int32()),
        "customer": pa.array(random.integers(0, CUSTOMERS, count), pa.int32()),
        "day": pa.array(random.integers(0, DAYS, count), pa.int32()),
        "amount": pa.array(random.integers(1, 10_000, count), pa.int64()),
        "note": pa.array(random.integers(0, 1 << 40, count)).cast("string"),
    }
    return pa.table(columns)


def main() -> None:
    """Print the figures."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="tablestore-changelogs-") as work:
        changes_of_one_snapshot(report, Path(work))
        upserts(report, Path(work))
        compactions(report, Path(work))


if __name__ == "__main__":
    main()
