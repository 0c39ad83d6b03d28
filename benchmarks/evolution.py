"""Schema changes: what ALTER TABLE costs on a table of many files, and of many columns.

The files are entries of manifests only: a schema change reads none of them. `python -m benchmarks.evolution` measures
this alone.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Report
from tablestore_engine.catalog import Catalog
from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta, SimpleStats
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry
from tablestore_engine.operation.commit.change import Change
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import (
    AddCheckConstraint,
    AddColumn,
    DropColumn,
    RenameColumn,
    SetNullability,
)
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.query.row_expressions import read_expression
from tablestore_engine.sql.write_statements.violating_rows import violating_rows
from tablestore_engine.table import Table

FILES, COLUMNS, ROUNDS = 10_000, 500, 9
MOST_MILLIS = 50
INT = parse_type("INT")


def run(report: Report, work: Path) -> None:
    """Add the lines of schema changes to a report."""
    catalog = Catalog(work / "evolution")
    empty, full = (_table(catalog, name, files) for name, files in (("empty", 0), ("full", FILES)))
    for what, alter in _statements().items():
        measured, base = _millis(full, alter), _millis(empty, alter)
        missed = " **missed**" if measured > MOST_MILLIS else ""
        report.note(
            f"ALTER TABLE, {what}: {measured:.1f} ms with {FILES:,} files (at most {MOST_MILLIS} ms{missed}), "
            f"{base:.1f} ms with none"
        )
    wide = empty.alter(*(AddColumn(f"c{number}", INT) for number in range(COLUMNS - 2)))
    report.note(f"The {COLUMNS + 1}st column: {_millis(wide, lambda t, n: t.alter(AddColumn(f'w{n}', INT))):.1f} ms")


def _statements() -> dict[str, Callable[[Table, int], object]]:
    return {
        "add a column": lambda table, n: table.alter(AddColumn(f"a{n}", INT)),
        "rename and drop": lambda table, n: table.alter(RenameColumn(f"a{n}", f"b{n}"), DropColumn(f"b{n}")),
        "set NOT NULL": lambda table, _: table.alter(SetNullability(("v",), nullable=False)),
        "add a CHECK": lambda table, n: _add_check(table, f"check_{n}", "id >= 0 AND v BETWEEN 0 AND 1000000"),
    }


def _add_check(table: Table, name: str, sql: str) -> None:
    """ADD CONSTRAINT without Spark, which would evaluate the condition for no row: no file may hold a violation."""
    snapshot = table.latest_snapshot()
    plan = table.scan(snapshot, violating_rows(read_expression(sql, table.schema.field_names)))
    assert not plan.files
    table.alter(AddCheckConstraint(name, sql, 0 if snapshot is None else snapshot.id, table.schema.id))


def _millis(table: Table, alter: Callable[[Table, int], object]) -> float:
    """The median time of a statement; of a column that may be null."""
    found = []
    for number in range(ROUNDS):
        now = table.alter(SetNullability(("v",), nullable=True))
        start = time.perf_counter()
        alter(now, number)
        found.append(time.perf_counter() - start)
    return statistics.median(found) * 1000


def _table(catalog: Catalog, name: str, files: int) -> Table:
    schema = create_schema([("id", INT, None), ("v", INT, None)])
    table = catalog.create_table("default", name, schema)
    if files:
        publish_change(table.state, Change("APPEND", added=tuple(_entry(number) for number in range(files))))
    return table


def _entry(number: int) -> ManifestEntry:
    types = [INT, INT]
    row = encode_row([number, number], types)
    no_key = SimpleStats(encode_row([], []), encode_row([], []), ())
    file = DataFileMeta(
        f"data-{number:036d}.parquet",
        100_000,
        1000,
        b"",
        b"",
        no_key,
        SimpleStats(row, row, (0, 0)),
        0,
        999,
        0,
        level=0,
    )
    return ManifestEntry(FileKind.ADD, encode_row([], []), 0, -1, file)


def main() -> None:
    """Print the figures alone."""
    with tempfile.TemporaryDirectory() as work:
        run(Report(), Path(work))


if __name__ == "__main__":
    main()
