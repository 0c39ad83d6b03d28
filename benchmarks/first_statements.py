"""The first statements of a process, which is what a dbt command consists of: CTAS, upserts and queries.

    python -m benchmarks.first_statements [--scale 0.1] [--rounds 3]

Each figure is of processes of their own, those that are compared in turn. The time of a statement begins when the
session has started.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.data import KEYS, UPSERT_ROWS_AT_SCALE_1, changes, lineitem
from benchmarks.measure import Report, Used, often, used_by
from benchmarks.tables import Q1
from tablestore_engine import TableStore
from tablestore_engine.spark.session.session import SessionConfig, start_session

BUCKETS, STATEMENTS = 8, 3
TABLE = "bench.first"


def run(report: Report, work: Path, data: Path, scale: float, rounds: int = 3) -> None:
    """Add the lines of first statements to a report."""
    source = lineitem(data, scale)
    label = f"SF {scale:g}"
    _in_process("prepare", work, source, scale)
    found: dict[str, list[list[Used]]] = {"ctas": [], "spark": [], "upsert": [], "query": []}
    for _ in range(often(rounds)):
        for what, times in found.items():
            times.append(_in_process(what, work, source, scale))
    first, third = (
        {what: Used.least([one[at] for one in times]) for what, times in found.items()} for at in (0, STATEMENTS - 1)
    )
    what = f"{label}: CTAS, the first statement of a process ÷ Spark's own sorted write likewise"
    report.add(what, first["ctas"].wall, first["spark"].wall, 1.25)
    report.add(f"{label}: CTAS, the third ÷ Spark's own sorted write", third["ctas"].wall, third["spark"].wall, 1.1)
    report.add(f"{label}: the first upsert of a process ÷ the third", first["upsert"].wall, third["upsert"].wall, 2.5)
    report.add(f"{label}: the first query of a process ÷ the third", first["query"].wall, third["query"].wall)
    report.note(
        f"{label}: seconds of processors of the first and the third: "
        + ", ".join(f"{what} {first[what].processor:.1f} and {third[what].processor:.1f}" for what in found)
    )


def _in_process(what: str, work: Path, source: str, scale: float) -> list[Used]:
    """The times of the statements of one new process."""
    out = work / "out.json"
    given = [what, "--work", str(work), "--source", source, "--scale", str(scale), "--out", str(out)]
    subprocess.run([sys.executable, "-m", __spec__.name, *given], check=True, stdout=subprocess.DEVNULL)
    return [Used(*one) for one in json.loads(out.read_text())]


def _statements(what: str, work: Path, source: str, scale: float) -> list[Used]:
    spark = start_session(SessionConfig(spark_config={"spark.sql.shuffle.partitions": "8"}))
    store = TableStore(work / "warehouse", spark)
    store.execute("create schema if not exists bench")
    rows = f"parquet.`{source}`"

    def ctas(number: int) -> object:
        return store.execute(
            f"create or replace table {TABLE}_{number} (primary key ({', '.join(KEYS)}) not enforced) "
            f"with ('bucket' = '{BUCKETS}', 'bucket-key' = 'l_orderkey') as select * from {rows}"
        )

    def written(number: int) -> object:
        spread = spark.read.parquet(source).repartition(BUCKETS, "l_orderkey").sortWithinPartitions(*KEYS)
        return spread.write.mode("overwrite").parquet(str(work / f"plain-{number}"))

    def upsert(number: int) -> object:
        return store.execute(f"insert into {TABLE} select * from parquet.`{work / f'changes-{number}'}`")

    def query(number: int) -> object:
        frame = store.execute(Q1.format(t=TABLE)).dataframe
        assert frame is not None
        return frame.collect()

    if what == "prepare":
        size = int(UPSERT_ROWS_AT_SCALE_1 * min(scale, 1))
        for number in range(STATEMENTS):
            changed = changes(spark, source, scale, size, number + 1)
            changed.coalesce(1).write.mode("overwrite").parquet(str(work / f"changes-{number}"))
        ctas(0)
        store.execute(f"alter table {TABLE}_0 rename to {TABLE}")
        return []
    action: Callable[[int], object] = {"ctas": ctas, "spark": written, "upsert": upsert, "query": query}[what]
    return [used_by(lambda number=number: action(number)) for number in range(STATEMENTS)]


def main() -> None:
    """Print the figures alone; or, with a kind of statement, write the times of this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?")
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("~/.cache/dbt-tablestore/benchmarks").expanduser())
    for name in ("work", "source", "out"):
        parser.add_argument(f"--{name}")
    given = parser.parse_args()
    if given.what is None:
        with tempfile.TemporaryDirectory() as work:
            run(Report(), Path(work), given.data, given.scale, given.rounds)
        return
    times: list[Any] = [
        (u.wall, u.processor) for u in _statements(given.what, Path(given.work), given.source, given.scale)
    ]
    Path(given.out).write_text(json.dumps(times))


if __name__ == "__main__":
    main()
