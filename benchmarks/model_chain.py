"""`python -m benchmarks.model_chain`: a chain of three dbt models, by changes and by `--full-refresh`.

lineitem → enriched (joined with orders) → totals of each day → the best days. 1 % of lineitem changes between two runs;
the table records its changes (`changelog-producer` = `lookup`), and the models' tables do not.
All commands of dbt run in this process, so Spark is warm, and each figure is that of one whole command.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from dbt.cli.main import dbtRunner

from benchmarks.data import KEYS, UPSERT_ROWS_AT_SCALE_1, changes, generator, lineitem
from benchmarks.measure import Report, Used, used_by
from tablestore_engine import TableStore
from tablestore_engine.spark.session.session import SessionConfig, start_session

ENRICHED = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key=['l_orderkey', 'l_linenumber'],
          buckets=8) }}
select c._row_kind, c.l_orderkey, c.l_linenumber, o.o_orderdate as day, o.o_orderpriority as priority,
       c.l_quantity as quantity
from {{ changes(source('shop', 'lineitem')) }} c
join {{ pinned(source('shop', 'orders')) }} o on o.o_orderkey = c.l_orderkey
"""
TOTALS = """
{{ config(materialized='incremental', incremental_strategy='append', primary_key=['priority', 'day'],
          merge_engine='aggregation', fields={'items': 'sum', 'quantity': 'sum'}) }}
select priority, day, sum({{ row_sign() }}) as items,
       cast(sum(quantity * {{ row_sign() }}) as decimal(38, 2)) as quantity
from {{ changes(ref('enriched')) }}
group by priority, day
"""
TOP = """
{{ config(materialized='incremental', incremental_strategy='changelog', unique_key=['priority', 'rank']) }}
with changed as (select distinct priority from {{ changes(ref('totals')) }}),
ranked as (
  select t.*, row_number() over (partition by t.priority order by t.quantity desc, t.day) as rank
  from {{ pinned(ref('totals')) }} t join changed on changed.priority = t.priority where t.items > 0
)
select if(r.rank is null, '-D', '+I') as _row_kind, s.priority, s.rank, r.day, r.quantity
from (select priority, explode(array(1, 2, 3)) as rank from changed) s
left join ranked r on r.priority = s.priority and r.rank = s.rank
"""
SOURCES = """
version: 2
sources:
  - name: shop
    schema: shop
    tables: [{name: lineitem}, {name: orders}]
"""
DIGESTS = (
    "select count(*), sum(hash(*)) from shop.enriched",
    "select count(*), sum(items), sum(quantity) from shop.totals where items > 0",
    "select count(*), sum(hash(*)) from shop.top",
)


class ModelChain:
    """The chain at one scale factor, in a warehouse and a dbt project of its own."""

    def __init__(self, work: Path, data: Path, scale: float) -> None:
        self.label, self.scale, self.folder = f"SF {scale:g}", scale, work / f"sf{scale:g}"
        self.source = lineitem(data, scale)
        self.spark = start_session(SessionConfig(spark_config={"spark.sql.shuffle.partitions": "8"}))
        self.store = TableStore(self.folder / "warehouse", self.spark)
        self._make_project()
        self.store.execute("create schema shop")
        for name, keys in (("lineitem", KEYS), ("orders", ["o_orderkey"])):
            path = self.source if name == "lineitem" else _orders(data, scale)
            self.store.execute(
                f"create table shop.{name} (primary key ({', '.join(keys)}) not enforced) "
                f"with ('bucket' = '8', 'bucket-key' = '{keys[0]}', 'changelog-producer' = 'lookup')"
                f" as select * from parquet.`{path}`"
            )

    def run(self, report: Report, rows: int, runs: int) -> Used:
        """Add the bar of this scale. Returns the least that a run after changes takes."""
        self._dbt("run")
        by_changes = []
        for number in range(runs + 1):  # the first one warms up
            self._change(rows, seed=1 + number)
            by_changes.append(used_by(lambda: self._dbt("run")))
        found = self._digests()
        anew = used_by(lambda: self._dbt("run", "--full-refresh"))
        if self._digests() != found:
            raise SystemExit(f"{self.label}: the models are not what a full refresh makes of them")
        least = Used.least(by_changes[1:])
        report.add(f"{self.label}: 3 models after {rows:,} changes ÷ --full-refresh", least.wall, anew.wall, 0.10)
        report.add(f"{self.label}: the same, processor time", least.processor, anew.processor)
        return least

    def _change(self, rows: int, seed: int) -> None:
        path = str(self.folder / f"changes_{seed}")
        changes(self.spark, self.source, self.scale, rows, seed).coalesce(1).write.mode("overwrite").parquet(path)
        self.store.execute(f"insert into shop.lineitem select * from parquet.`{path}`")

    def _digests(self) -> list[object]:
        return [self.store.sql(query).collect() for query in DIGESTS]

    def _make_project(self) -> None:
        models = self.folder / "models"
        models.mkdir(parents=True)
        texts = {"sources.yml": SOURCES, "enriched.sql": ENRICHED, "totals.sql": TOTALS, "top.sql": TOP}
        for name, text in texts.items():
            (models / name).write_text(text)
        target = f"{{type: tablestore, warehouse: '{self.folder}/warehouse', schema: shop, threads: 1}}"
        profiles = f"bench:\n  target: dev\n  outputs:\n    dev: {target}\n"
        (self.folder / "profiles.yml").write_text(profiles)
        (self.folder / "dbt_project.yml").write_text("name: bench\nversion: '1.0'\nprofile: bench\n")

    def _dbt(self, *command: str) -> None:
        where = ["--project-dir", str(self.folder), "--profiles-dir", str(self.folder)]
        done = dbtRunner().invoke(["--quiet", *command, *where])
        if not done.success:
            raise SystemExit(f"dbt {' '.join(command)} failed: {done.exception}")


def _orders(data: Path, scale: float) -> str:
    folder = data / f"sf{scale:g}"
    path = folder / "orders.parquet"
    if not path.exists():
        command = [generator(), "parquet", "-s", f"{scale:g}", "--tables", "orders", "--output-dir", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return str(path)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scales", default="1,10", help="scale factors, the first one is the base (default 1,10)")
    parser.add_argument("--runs", type=int, default=2, help="how often a run after changes is timed (default 2)")
    parser.add_argument("--data", default=os.path.expanduser("~/.cache/dbt-tablestore/benchmarks"))
    arguments = parser.parse_args()
    scales = [float(one) for one in arguments.scales.split(",")]
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"
    report, rows = Report(), int(UPSERT_ROWS_AT_SCALE_1 * scales[0])
    with tempfile.TemporaryDirectory(prefix="tablestore-chain-") as work:
        chains = [ModelChain(Path(work), Path(arguments.data), scale) for scale in scales]
        found = [chain.run(report, rows, arguments.runs) for chain in chains]
        for chain, one in zip(chains[1:], found[1:], strict=True):
            what = f"3 models after {rows:,} changes: {chain.label} ÷ {chains[0].label}"
            report.add(what, one.wall, found[0].wall, 1.5)
            report.add(f"{what}, processor time", one.processor, found[0].processor)


if __name__ == "__main__":
    main()
