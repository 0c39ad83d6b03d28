"""The merge tree benchmark: what many upserts cost, how much space they take, and what compaction and folding save."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import functions as F

from benchmarks.data import KEYS, changes, lineitem
from benchmarks.measure import Report, alternating, once
from benchmarks.tables import Q1
from tablestore_engine import TableStore
from tablestore_engine.schema.types.sql_literals import quoted_name

UPSERTS = 20
FEW_UPSERTS = 6  # of a small scale; the fourth compacts
UPSERTS_OF_EACH = 4
BATCHES = 20
FEW_BATCHES = 6
FOLDED_KEYS = 100_000
RUNS = 5
_KEY = f"primary key ({', '.join(KEYS)}) not enforced"
_MAY_COMPACT = "'num-sorted-run.compaction-trigger' = '5'"
_NEVER = "'write-only' = 'true'"


class MergeTreeBenchmark:
    """On lineitem of one scale factor. `work` is a scratch folder; `data` keeps generated files between runs."""

    def __init__(self, store: TableStore, work: Path, data: Path, scale: float, buckets: int) -> None:
        self.store, self.work, self.scale, self.buckets = store, work / "merge_tree", scale, buckets
        self.source = lineitem(data, scale)
        self.upserts, self.batches = (UPSERTS, BATCHES) if scale >= 1 else (FEW_UPSERTS, FEW_BATCHES)
        self.label = f"SF {scale:g}"

    def run(self, report: Report) -> None:
        """All comparisons."""
        self._upserts(report)
        self._dynamic_buckets(report)
        self._full_compaction(report)
        self._aggregation(report)
        self._retractions(report)
        shutil.rmtree(self.work, ignore_errors=True)

    def _upserts(self, report: Report) -> None:
        table, never = (
            self._load("upserted", self._options(_MAY_COMPACT)),
            self._load("write_only", self._options(_NEVER)),
        )
        batches = [self._batch(seed) for seed in range(100, 100 + self.upserts)]
        before = self._bytes(never)
        # The first ones also make the JVM compile what both need.
        alone = min(self._insert(never, path) for path in batches[:4])
        given = (self._bytes(never) - before) / 4 * self.upserts
        plain = self._plain(table)
        before, total, ratios = self._bytes(table), 0.0, []
        for path in batches:
            total += self._insert(table, path)
            mine, base = alternating(lambda: self._collect(Q1.format(t=table)), lambda: self._collect(plain), 2)
            ratios.append((mine / base, mine, base))
        report.add(
            f"{self.label}: {self.upserts} upserts of 1 % with automatic compaction ÷ {self.upserts} × one without",
            total,
            alone * self.upserts,
            2.0,
        )
        _, mine, base = max(ratios)
        report.add(f"{self.label}: Q1 after the slowest of them ÷ plain Parquet", mine, base, 2.0)
        written, live = self._bytes(table) - before, self._live_bytes(table)
        self.store.execute(f"alter table {table} compact")
        report.add_bytes(f"{self.label}: space after them ÷ the live data", live, self._live_bytes(table), 2.0)
        report.add_bytes(f"{self.label}: bytes written by them ÷ bytes given", written, given, 6.0)

    def _dynamic_buckets(self, report: Report) -> None:
        fixed = self._load("fixed", f"'bucket' = '{self.buckets}', {_NEVER}")
        dynamic = self._load("dynamic", f"'bucket' = '-1', {_NEVER}")
        paths = [self._batch(seed) for seed in range(200, 200 + UPSERTS_OF_EACH)]
        # The first of each also makes the JVM compile what it needs.
        times = [(self._insert(dynamic, path), self._insert(fixed, path)) for path in paths][1:]
        check = "select count(*), sum(l_quantity), sum(l_extendedprice) from {t}"
        if self._collect(check.format(t=fixed)) != self._collect(check.format(t=dynamic)):
            raise AssertionError("the table with dynamic buckets and the one with fixed buckets disagree")
        report.add(
            f"{self.label}: 1 % upsert into dynamic buckets ÷ into {self.buckets} fixed ones",
            min(mine for mine, _ in times),
            min(base for _, base in times),
            1.5,
        )

    def _full_compaction(self, report: Report) -> None:
        rows = self.store.spark.read.parquet(self.source)
        pieces = []
        for number in range(RUNS):
            piece = str(self.work / f"piece_{number}")
            chosen = F.pmod(F.hash(*KEYS, F.lit(7)), F.lit(RUNS)) == number
            rows.where(chosen).coalesce(2).write.mode("overwrite").parquet(piece)
            pieces.append(piece)
        table = "bench.five_runs"
        self.store.execute(
            f"create or replace table {table} ({_KEY}) with ({self._options(_NEVER)}) "
            f"as select * from parquet.{quoted_name(str(pieces[0]))}"
        )
        for piece in pieces[1:]:
            self._insert(table, piece)
        plain = str(self.work / "sorted")

        def spark_sorts() -> None:
            read = self.store.spark.read.parquet(*pieces).repartition(self.buckets, "l_orderkey")
            read.sortWithinPartitions(*KEYS).write.mode("overwrite").parquet(plain)

        spark_sorts()
        base = once(spark_sorts)
        mine = once(lambda: self.store.execute(f"alter table {table} compact"))
        report.add(
            f"{self.label}: full compaction of {RUNS} runs ÷ Spark reading, sorting and writing the same",
            mine,
            base,
            0.8,
        )

    def _aggregation(self, report: Report) -> None:
        rows = self.store.spark.read.parquet(self.source)
        keyed = rows.select(
            F.pmod(F.hash("l_partkey"), F.lit(FOLDED_KEYS)).cast("bigint").alias("k"),
            F.col("l_quantity").cast("decimal(38,2)").alias("quantity"),
            F.col("l_extendedprice").alias("dearest"),
            F.col("l_orderkey").alias("o"),
        )
        batches = []
        for number in range(self.batches):
            path = str(self.work / f"batch_{number}")
            keyed.where(F.pmod("o", F.lit(self.batches)) == number).drop("o").coalesce(2).write.mode(
                "overwrite"
            ).parquet(path)
            batches.append(path)
        columns = "k bigint not null, quantity decimal(38,2), dearest decimal(15,2), primary key (k) not enforced"
        folding = (
            "'merge-engine' = 'aggregation', 'fields.quantity.aggregate-function' = 'sum', "
            "'fields.dearest.aggregate-function' = 'max'"
        )
        for name, options in (("folded", f"'bucket' = '2', {folding}"), ("merged", "'bucket' = '2'")):
            self.store.execute(f"drop table if exists bench.{name}")
            self.store.execute(f"create table bench.{name} ({columns}) with ({options})")
        mine = base = 0.0
        for path in batches:
            mine += self._insert("bench.folded", path)
            base += once(lambda path=path: self.store.execute(_REAGGREGATE.format(path=quoted_name(str(path)))))
        check = "select count(*), sum(quantity), sum(dearest) from bench.{t}"
        if self._collect(check.format(t="folded")) != self._collect(check.format(t="merged")):
            raise AssertionError("the aggregation engine and the aggregation by merge disagree")
        report.add(
            f"{self.label}: aggregation engine, {self.batches} batches into "
            f"{FOLDED_KEYS:,} keys ÷ upserts of a new GROUP BY",
            mine,
            base,
            0.7,
        )

    def _retractions(self, report: Report) -> None:
        options = "'merge-engine' = 'tablestore-count', 'write-only' = 'true'"
        for table in ("bench.retracted", "bench.settled"):
            self.store.execute(
                f"create or replace table {table} with ({options}) "
                f"as select * from parquet.{quoted_name(str(self.source))}"
            )
            self.store.execute(f"delete from {table} where pmod(hash(l_orderkey, l_linenumber), 100) = 0")
        self.store.execute("alter table bench.settled compact")
        query = "select sum(l_quantity) from bench.{t}"
        if self._collect(query.format(t="retracted")) != self._collect(query.format(t="settled")):
            raise AssertionError("compaction changed the rows of a table that counts")
        mine, base = alternating(
            lambda: self._collect(query.format(t="retracted")), lambda: self._collect(query.format(t="settled")), 5
        )
        report.add(
            f"{self.label}: sum(l_quantity) of a table without a key, 1 % of whose rows "
            f"were retracted ÷ after its compaction",
            mine,
            base,
            2.0,
        )

    def _options(self, more: str) -> str:
        return f"'bucket' = '{self.buckets}', 'bucket-key' = 'l_orderkey', {more}"

    def _load(self, name: str, options: str) -> str:
        table = f"bench.{name}"
        self.store.execute(
            f"create or replace table {table} ({_KEY}) with ({options}) "
            f"as select * from parquet.{quoted_name(str(self.source))}"
        )
        return table

    def _batch(self, seed: int) -> str:
        path = str(self.work / f"changes_{seed}")
        frame = changes(self.store.spark, self.source, self.scale, int(60_000 * self.scale), seed)
        frame.coalesce(1).write.mode("overwrite").parquet(path)
        return path

    def _insert(self, table: str, path: str) -> float:
        return once(lambda: self.store.execute(f"insert into {table} select * from parquet.{quoted_name(str(path))}"))

    def _plain(self, table: str) -> str:
        path = str(self.work / "plain")
        frame = self.store.read(table).repartition(self.buckets, *KEYS).sortWithinPartitions(*KEYS)
        frame.write.mode("overwrite").parquet(path)
        return Q1.format(t=f"parquet.{quoted_name(str(path))}")

    def _collect(self, sql: str) -> list[tuple[object, ...]]:
        frame = self.store.execute(sql).dataframe
        assert frame is not None
        return [tuple(row) for row in frame.collect()]

    def _bytes(self, table: str) -> int:
        """Bytes of all data files that were ever written: none expires within an hour."""
        return sum(one.stat().st_size for one in Path(self.store.table(table).path).glob("bucket-*/*.parquet"))

    def _live_bytes(self, table: str) -> int:
        return sum(one.file.file_size for one in self.store.table(table).live_files())


_REAGGREGATE = """
insert into bench.merged
select k, cast(sum(quantity) as decimal(38,2)), max(dearest) from (
  select k, quantity, dearest from parquet.{path}
  union all
  select m.k, m.quantity, m.dearest from bench.merged m left semi join parquet.{path} b on m.k = b.k
) group by k
"""
