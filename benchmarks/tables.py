"""The storage benchmark: loading, upserting, reading and compacting lineitem."""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from benchmarks.data import KEYS, UPSERT_ROWS_AT_SCALE_1, changes, lineitem
from benchmarks.measure import Report, alternating, once
from tablestore_engine import TableStore
from tablestore_engine.schema.types.sql_literals import quoted_name

Q1 = """
select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
       sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
       avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
from {t} where l_shipdate <= date'1998-09-02' group by 1, 2
"""
SUM = "select sum(l_quantity) from {t}"
POINT = "select * from {t} where l_orderkey = {key}"
BAR_Q1, BAR_SUM = 1.4, 3.0


class TableBenchmark:
    """One scale factor. `work` is a scratch folder; `data` keeps generated files between runs."""

    def __init__(self, store: TableStore, work: Path, data: Path, scale: float, buckets: int, runs: int) -> None:
        self.store, self.work, self.scale, self.buckets, self.runs = store, work, scale, buckets, runs
        self.source = lineitem(data, scale)
        self.data = data
        self.name = f"bench.lineitem_{str(scale).replace('.', '_')}"
        self.label = f"SF {scale:g}"

    def run(self, report: Report) -> None:
        """Everything but the comparison across scales."""
        self._upsert(report, self._compare_load(report))
        plain = self._plain()
        self._reads(report, plain, "after one upsert", BAR_Q1, BAR_SUM)
        self._point(report, plain)
        report.note(
            f"{self.label}: compaction {once(lambda: self.store.execute(f'alter table {self.name} compact')):.1f} s"
        )
        self._reads(report, plain, "after compaction", 1.1, 1.1)

    def load(self) -> None:
        """Make the table of all rows."""
        self.store.execute(
            f"create or replace table {self.name} (primary key ({', '.join(KEYS)}) not enforced) "
            f"with ('bucket' = '{self.buckets}', 'bucket-key' = 'l_orderkey') as "
            f"select * from parquet.{quoted_name(str(self.source))}"
        )

    def _compare_load(self, report: Report) -> float:
        spark, plain = self.store.spark, str(self.work / "plain_load")
        rows = spark.read.parquet(self.source)

        def spark_write() -> None:
            spread = rows.repartition(self.buckets, "l_orderkey").sortWithinPartitions(*KEYS)
            spread.write.mode("overwrite").parquet(plain)

        mine, base = alternating(self.load, spark_write, self.runs)
        report.add(f"{self.label}: CTAS ÷ Spark's own sorted write", mine, base, 1.3)
        shutil.rmtree(plain, ignore_errors=True)
        return mine

    def _upsert(self, report: Report, ctas: float) -> None:
        # Two on a small table warm the path up; the one that is measured is the first that the large table gets.
        warm = [self._batch(seed, self.source, self.scale) for seed in (1, 2)]
        scratch = f"{self.name}_warm"
        self.store.execute(
            f"create or replace table {scratch} (primary key ({', '.join(KEYS)}) not enforced) "
            f"with ('bucket' = '{self.buckets}', 'bucket-key' = 'l_orderkey') "
            f"as select * from parquet.{quoted_name(str(warm[0]))}"
        )
        for path in warm:
            self._insert(scratch, path)
        seconds = self._insert(self.name, self._batch(3, self.source, self.scale))
        report.add(f"{self.label}: upserting {self._batch_rows():,} rows ÷ CTAS", seconds, ctas, 0.08)

    def upsert_again(self, path: str) -> float:
        """Seconds to upsert the rows of a Parquet folder into this table."""
        return self._insert(self.name, path)

    def _insert(self, table: str, path: str) -> float:
        return once(lambda: self.store.execute(f"insert into {table} select * from parquet.{quoted_name(str(path))}"))

    def _batch(self, seed: int, source: str, scale: float) -> str:
        path = str(self.work / f"changes_{scale}_{seed}")
        frame = changes(self.store.spark, source, scale, self._batch_rows(), seed)
        frame.coalesce(1).write.mode("overwrite").parquet(path)
        return path

    def same_batches(self, count: int) -> list[str]:
        """Batches of changes to this scale's rows, which any greater scale has too."""
        return [self._batch(10 + i, self.source, self.scale) for i in range(count)]

    def _batch_rows(self) -> int:
        return int(UPSERT_ROWS_AT_SCALE_1 * min(self.scale, 1))

    def _plain(self) -> str:
        """Plain Parquet of equal content, written by Spark."""
        path = str(self.work / "plain_equal")
        frame = self.store.read(self.name).repartition(self.buckets, *KEYS).sortWithinPartitions(*KEYS)
        frame.write.mode("overwrite").parquet(path)
        return f"parquet.{quoted_name(str(path))}"

    def _reads(self, report: Report, plain: str, when: str, bar_q1: float, bar_sum: float) -> None:
        # Short queries are run more often: the JVM compiles them while they run.
        for label, query, bar, runs in (("Q1", Q1, bar_q1, 2), ("sum(l_quantity)", SUM, bar_sum, 10)):
            mine, base = alternating(
                lambda q=query: self._collect(q.format(t=self.name)),
                lambda q=query: self._collect(q.format(t=plain)),
                self.runs + runs,
            )
            report.add(f"{self.label}: {label} {when} ÷ plain Parquet", mine, base, bar)

    def _point(self, report: Report, plain: str) -> None:
        mine, base = alternating(
            lambda: self._collect(POINT.format(t=self.name, key=1_234_567 % int(6_000_000 * self.scale))),
            lambda: self._collect(POINT.format(t=plain, key=1_234_567 % int(6_000_000 * self.scale))),
            self.runs + 4,
        )
        report.add(f"{self.label}: where l_orderkey = … on {self.buckets} buckets ÷ plain Parquet", mine, base, 1.0)

    def _collect(self, sql: str) -> None:
        frame = self.store.execute(sql).dataframe
        assert frame is not None
        frame.collect()


def driver_peak_mib() -> float:
    """Peak resident memory of this process, in MiB; Spark's JVM is another."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def worker_peak_mib(spark: SparkSession) -> float:
    """Peak resident memory of Spark's Python workers so far, in MiB. Spark keeps them, so each reports its own."""

    def peaks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield pa.RecordBatch.from_arrays([pa.array([peak])], names=["peak"])

    tasks = 4 * spark.sparkContext.defaultParallelism
    rows = spark.range(tasks, numPartitions=tasks).mapInArrow(peaks, "peak double").collect()
    return max(row[0] for row in rows)
