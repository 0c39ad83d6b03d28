"""`python -m benchmarks`: run, print a table, and on request keep it in docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from benchmarks import evolution, first_statements, measure, metadata_scale, schema_versions
from benchmarks.measure import Report
from benchmarks.merge_tree import MergeTreeBenchmark
from benchmarks.reads_after_upserts import ReadsAfterUpserts
from benchmarks.report import print_report, write_report
from benchmarks.row_level import RowLevelBenchmark
from benchmarks.tables import TableBenchmark, driver_peak_mib, worker_peak_mib
from tablestore_engine import TableStore
from tablestore_engine.spark.read import merge_source_bounds
from tablestore_engine.spark.session.session import SessionConfig, start_session


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="SF 0.05, each once: shows that all work")
    parser.add_argument("--scales", default="1,10", help="scale factors, the first one is the base (default 1,10)")
    parser.add_argument("--buckets", type=int, default=8)
    parser.add_argument("--runs", type=int, help="how often each is timed (default 2)")
    parser.add_argument("--data", default=os.path.expanduser("~/.cache/dbt-tablestore/benchmarks"))
    parser.add_argument("--only", choices=("first", "metadata", "tables", "merge-tree", "dbt"), help="one part of it")
    parser.add_argument("--write", action="store_true", help="keep the table in docs/benchmarks.md")
    arguments = parser.parse_args()
    arguments.runs = arguments.runs or 2
    measure.MOST_RUNS = 0 if arguments.small else None
    scales = [0.05] if arguments.small else [float(s) for s in arguments.scales.split(",")]
    work = Path(tempfile.mkdtemp(prefix="tablestore-bench-"))
    report = Report()
    data = Path(arguments.data)
    try:
        if arguments.only in (None, "first"):
            first_statements.run(report, work / "first", data, scales[0], arguments.runs)
        if arguments.only in (None, "metadata"):
            metadata_scale.run(report, work, metadata_scale.SMALL if arguments.small else None)
        if arguments.only in (None, "tables", "merge-tree"):
            _storage(arguments, scales, work, report)
        if arguments.only in (None, "dbt"):
            from benchmarks import snapshot_run
            from benchmarks.dbt_projects import run as run_dbt

            run_dbt(report, work, small=arguments.small)
            snapshot_run.run(report, work, data, scales[0])
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print_report(report)
    if arguments.write:
        write_report(report)


def _storage(arguments: argparse.Namespace, scales: list[float], work: Path, report: Report) -> None:
    spark = start_session(SessionConfig(spark_config={"spark.sql.shuffle.partitions": "8"}))
    store = TableStore(work / "warehouse", spark)
    store.execute("create schema bench")
    if arguments.only in (None, "tables"):
        evolution.run(report, work)
    if arguments.only in (None, "tables"):
        _tables(store, arguments, scales, work, report)
    if arguments.only in (None, "merge-tree"):
        data = Path(arguments.data)
        MergeTreeBenchmark(store, work, data, scales[0], arguments.buckets).run(report)
        ReadsAfterUpserts(store, work, data, scales[0], arguments.buckets).run(report)
    report.note(
        f"Peak memory: Python driver {driver_peak_mib():.0f} MiB, Python worker {worker_peak_mib(spark):.0f} MiB"
    )


def _tables(store: TableStore, arguments: argparse.Namespace, scales: list[float], work: Path, report: Report) -> None:
    """All of the first scale, and of another one what changes of as many rows cost: it takes minutes to load."""
    tables = [
        TableBenchmark(store, work, Path(arguments.data), scale, arguments.buckets, arguments.runs) for scale in scales
    ]
    first = tables[0]
    first.run(report)
    for other in tables[1:]:
        other.load()
    _row_level(report, store, work, tables)
    schema_versions.run(report, store, first.source, first.scale)
    if len(tables) > 1:
        second = tables[1]
        # In turn, the same rows into both tables, of which the row-level statements made as many runs.
        times = [(second.upsert_again(path), first.upsert_again(path)) for path in first.same_batches(3)]
        what = f"the same 60,000 rows into {second.label} ÷ into {first.label}"
        report.add(what, min(large for large, _ in times), min(small for _, small in times), 1.2)


def _row_level(report: Report, store: TableStore, work: Path, tables: list[TableBenchmark]) -> None:
    merge_source_bounds.LARGE_FILES = 0  # the small form has small tables
    found = [RowLevelBenchmark(store, work, one.name, one.source, one.label).run(report) for one in tables]
    for what in found[0] if len(found) > 1 else ():
        bar = 1.2 if "star" in what else 1.5
        report.add(f"{what}: {tables[1].label} ÷ {tables[0].label}", found[1][what], found[0][what], bar)


if __name__ == "__main__":
    main()
