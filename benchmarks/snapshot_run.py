"""`python -m benchmarks.snapshot_run`: a dbt snapshot of lineitem, and the run after 600 of its rows changed.

All commands of dbt run in this process, so Spark is warm, and each figure is that of one whole command.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from dbt.cli.main import dbtRunner
from pyspark.sql import functions as F

from benchmarks.data import KEYS, lineitem
from benchmarks.measure import Report, used_by
from tablestore_engine import TableStore
from tablestore_engine.spark.session.session import SessionConfig, start_session

FEW = 600
BAR = 0.3
SNAPSHOT = """
{{% snapshot taken %}}
{{{{ config(unique_key={keys}, strategy='timestamp', updated_at='changed_at', buckets=8) }}}}
select * from shop.lineitem
{{% endsnapshot %}}
"""


def run(report: Report, work: Path, data: Path, scale: float, runs: int = 2) -> None:
    """Add the bar of one scale factor; `work` gets a warehouse and a dbt project."""
    source, folder = lineitem(data, scale), work / "snapshot_run"
    spark = start_session(SessionConfig(spark_config={"spark.sql.shuffle.partitions": "8"}))
    _make_project(folder)
    store = TableStore(folder / "warehouse", spark)
    store.execute("create schema shop")
    store.execute(
        f"create table shop.lineitem (primary key ({', '.join(KEYS)}) not enforced) "
        "with ('bucket' = '8', 'bucket-key' = 'l_orderkey') as "
        f"select *, timestamp'2024-01-01' as changed_at from parquet.`{source}`"
    )
    first = used_by(lambda: _snapshot(folder))
    rows = spark.read.parquet(source)
    few = F.pmod(F.hash(*KEYS, F.lit(11)), F.lit(max(rows.count() // FEW, 1))) == 0
    path, later = str(folder / "few"), []
    rows.where(few).coalesce(1).write.parquet(path)
    for number in range(runs):
        store.execute(f"insert into shop.lineitem select *, timestamp'2024-02-0{1 + number}' from parquet.`{path}`")
        later.append(used_by(lambda: _snapshot(folder)))
    ended = store.sql("select count(*) from shop.taken where dbt_valid_to is not null").collect()[0][0]
    if ended != runs * spark.read.parquet(path).count():
        raise SystemExit(f"the snapshot ended {ended} rows")
    label = f"SF {scale:g}: dbt snapshot after {FEW} changed rows ÷ the first"
    report.add(label, min(one.wall for one in later), first.wall, BAR)
    report.add(f"{label}, processor time", min(one.processor for one in later), first.processor)


def _make_project(folder: Path) -> None:
    (folder / "snapshots").mkdir(parents=True)
    (folder / "snapshots" / "taken.sql").write_text(SNAPSHOT.format(keys=KEYS))
    target = f"{{type: tablestore, warehouse: '{folder}/warehouse', schema: shop, threads: 1}}"
    (folder / "profiles.yml").write_text(f"bench:\n  target: dev\n  outputs:\n    dev: {target}\n")
    (folder / "dbt_project.yml").write_text("name: bench\nversion: '1.0'\nprofile: bench\n")


def _snapshot(folder: Path) -> None:
    where = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    done = dbtRunner().invoke(["--quiet", "snapshot", *where])
    if not done.success:
        raise SystemExit(f"dbt snapshot failed: {done.exception}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1, help="the scale factor (default 1)")
    parser.add_argument("--data", default=os.path.expanduser("~/.cache/dbt-tablestore/benchmarks"))
    arguments = parser.parse_args()
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
    with tempfile.TemporaryDirectory(prefix="tablestore-snapshot-") as work:
        run(Report(), Path(work), Path(arguments.data), arguments.scale)


if __name__ == "__main__":
    main()
