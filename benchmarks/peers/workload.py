"""The workload of one engine in this process, with the interpreter of its environment.

    python -m benchmarks.peers.workload delta-dv --state cold --scale 1 --data DIR --work DIR --jars DIR --out FILE

Prints nothing; FILE gets seconds and megabytes as JSON. *Cold*: the first statements of the process. *Warm*: the whole
workload was played before, on a hundredth of the rows.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import changes
from benchmarks.peers.engines import COMMON, OURS, Engine, engine_of

UPSERTS, ROWS, FEW = 3, 60_000, 600
WARM_SHARE = 0.01
SUM = "select sum(l_quantity) from {t}"
Q1 = """
select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
       sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
       avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
from {t} where l_shipdate <= date'1998-09-02' group by 1, 2 order by 1, 2
"""
Run = Callable[[str], Any]


def prepare(spark: Any, data: Path, scale: float) -> None:
    """Write the rows and changes that all engines take, once: as plain Parquet."""
    source = str(data / f"sf{scale:g}" / "lineitem.parquet")
    for name, share in (("full", scale), ("warm", scale * WARM_SHARE)):
        folder = data / f"peers-{scale:g}-{name}"
        if (folder / "done").exists():
            continue
        rows = spark.read.parquet(source)
        if name == "warm":
            rows = rows.where(f"pmod(hash(l_orderkey), {round(1 / WARM_SHARE)}) = 0")
        rows.write.mode("overwrite").parquet(str(folder / "rows"))
        for seed in range(1, UPSERTS + 2):
            size = int((FEW if seed > UPSERTS else ROWS) * min(share, 1)) or 1
            changed = changes(spark, str(folder / "rows"), share, size, seed)
            changed.coalesce(1).write.mode("overwrite").parquet(str(folder / f"changes-{seed}"))
        (folder / "done").touch()


class Workload:
    """The statements of one engine on the rows of one folder.

    `figures` has the seconds of each step and megabytes on disk, by name, `answers` the sums, `step` is what it does;
    `keep` is called before each step, so that an engine that takes its process down leaves what it did before.
    """

    def __init__(self, engine: Engine, run: Run, rows: Path, warehouse: Path) -> None:
        self.engine, self._run, self.rows, self.warehouse = engine, run, rows, warehouse
        self.figures: dict[str, float] = {}
        self.answers: list[str] = []
        self.step = ""

    def play(self, keep: Callable[[Workload], None]) -> None:
        """All statements."""
        self._keep = keep
        self._write("ctas", [self.engine.ctas], "rows")
        self._reads("load")
        self._megabytes("loaded")
        for number in range(1, UPSERTS + 1):
            self._write(f"upsert {number}", [self.engine.upsert], f"changes-{number}")
            self._reads(f"upsert {number}")
        self._write("merge", [self.engine.merge], f"changes-{UPSERTS + 1}")
        self._reads("merge")
        self._megabytes("written")
        self._write("compaction", self.engine.compact, "rows")
        self._reads("compaction")
        self._megabytes("compacted")

    def _write(self, step: str, statements: Sequence[str], source: str) -> None:
        rows = f"parquet.`{self.rows / source}`"
        self._timed(step, [one.replace("{t}", self.engine.table).replace("{s}", rows) for one in statements])

    def _reads(self, after: str) -> None:
        for name, query in (("sum", SUM), ("q1", Q1)):
            found = self._timed(f"{name} after {after}", [query.replace("{t}", self.engine.table)])
            if name == "sum":
                self.answers.append(str(found[0][0]))

    def _timed(self, step: str, statements: Sequence[str]) -> Any:
        """The answer of the last statement."""
        self.step = step
        self._keep(self)
        start = time.perf_counter()
        answers = [self._run(one) for one in statements]
        self.figures[step] = time.perf_counter() - start
        return answers[-1]

    def _megabytes(self, when: str) -> None:
        sizes = (one.stat().st_size for one in self.warehouse.rglob("*") if one.is_file())
        self.figures[f"MB {when}"] = sum(sizes) / 1e6


def _peer(engine: Engine, warehouse: Path, jars: Path) -> tuple[Any, Run]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    paths = sorted(str(one) for one in jars.glob("*.jar"))
    config = {
        **COMMON,
        **engine.config,
        "spark.sql.warehouse.dir": "{warehouse}",
        "spark.jars": ",".join(paths),
        "spark.driver.extraClassPath": ":".join(paths),
    }
    for key, value in config.items():
        builder = builder.config(key, value.replace("{warehouse}", str(warehouse)))
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    for statement in engine.setup:
        spark.sql(statement)
    return spark, lambda statement: spark.sql(statement).collect()


def _ours(warehouse: Path) -> tuple[Any, Run]:
    from tablestore_engine import TableStore
    from tablestore_engine.spark.session.session import SessionConfig, start_session

    spark = start_session(SessionConfig(spark_config={**COMMON, "spark.master": "local[2]"}))
    store = TableStore(warehouse, spark)

    def run(statement: str) -> Any:
        frame = store.execute(statement).dataframe
        return None if frame is None else frame.collect()

    run("create schema if not exists bench")
    return spark, run


def main() -> None:
    """Play the workload and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("--state", choices=("prepare", "cold", "warm"), required=True)
    parser.add_argument("--scale", type=float, required=True)
    for name in ("data", "work", "jars", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    engine = engine_of(given.engine)
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    start = time.perf_counter()
    spark, run = _ours(given.work) if engine.name == OURS else _peer(engine, given.work, given.jars)
    session = time.perf_counter() - start
    if given.state == "prepare":
        prepare(spark, given.data, given.scale)
        return
    rows = given.data / f"peers-{given.scale:g}-full"

    def keep(workload: Workload) -> None:
        found = {"figures": {"session": session, **workload.figures}, "answers": workload.answers}
        given.out.write_text(json.dumps({**found, "step": workload.step, "versions": {"spark": spark.version}}))

    if given.state == "warm":
        Workload(engine, run, rows.with_name(f"peers-{given.scale:g}-warm"), given.work).play(lambda _: None)
        run(f"drop table {engine.table}")
    workload = Workload(engine, run, rows, given.work)
    workload.play(keep)
    keep(workload)
    shutil.rmtree(given.work, ignore_errors=True)


if __name__ == "__main__":
    main()
