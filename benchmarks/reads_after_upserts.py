"""Reads of lineitem after 1, 3 and 5 upserts without a compaction, and with deletion vectors, ÷ plain Parquet."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.data import KEYS, UPSERT_ROWS_AT_SCALE_1, changes, lineitem
from benchmarks.measure import Report, alternating, once
from benchmarks.tables import Q1, SUM
from tablestore_engine import TableStore
from tablestore_engine.schema.types.sql_literals import quoted_name

BARS = {1: (1.8, 1.15), 3: (2.2, 1.25), 5: (2.5, 1.35)}
"""Of the sum and of Q1, after so many upserts."""
WITH_VECTORS = (1.1, 1.1)
_UPSERT_WITH_VECTORS = 3.0
_UPSERTS = 5


class ReadsAfterUpserts:
    """On lineitem of one scale factor. `work` is a scratch folder; `data` keeps generated files between runs."""

    def __init__(self, store: TableStore, work: Path, data: Path, scale: float, buckets: int) -> None:
        self.store, self.work, self.scale, self.buckets = store, work / "reads", scale, buckets
        self.source = lineitem(data, scale)
        self.label = f"SF {scale:g}"

    def run(self, report: Report) -> None:
        """All reads."""
        merged = self._load("merged_on_read", "'write-only' = 'true'")
        marked = self._load("marked", "'deletion-vectors.enabled' = 'true'")
        times = []
        for number in range(1, _UPSERTS + 1):
            batch = self._batch(300 + number)
            times.append((self._insert(marked, batch), self._insert(merged, batch)))
            if number in BARS:
                self._read(report, merged, f"after {number} upserts", BARS[number])
        self._read(report, marked, f"after {_UPSERTS} upserts with deletion vectors", WITH_VECTORS)
        mine, base = (min(each) for each in zip(*times, strict=True))
        report.add(f"{self.label}: an upsert with deletion vectors ÷ one without", mine, base, _UPSERT_WITH_VECTORS)
        shutil.rmtree(self.work, ignore_errors=True)

    def _read(self, report: Report, table: str, when: str, bars: tuple[float, float]) -> None:
        plain = self._plain(table)
        for (label, query), bar in zip((("sum(l_quantity)", SUM), ("Q1", Q1)), bars, strict=True):
            mine, base = alternating(
                lambda q=query: self._collect(q.format(t=table)), lambda q=query: self._collect(q.format(t=plain)), 4
            )
            report.add(f"{self.label}: {label} {when} ÷ plain Parquet", mine, base, bar)

    def _load(self, name: str, options: str) -> str:
        table = f"bench.{name}"
        self.store.execute(
            f"create or replace table {table} (primary key ({', '.join(KEYS)}) not enforced) "
            f"with ('bucket' = '{self.buckets}', 'bucket-key' = 'l_orderkey', {options}) "
            f"as select * from parquet.{quoted_name(self.source)}"
        )
        return table

    def _batch(self, seed: int) -> str:
        path = str(self.work / f"changes_{seed}")
        rows = int(UPSERT_ROWS_AT_SCALE_1 * self.scale)
        frame = changes(self.store.spark, self.source, self.scale, rows, seed)
        frame.coalesce(1).write.mode("overwrite").parquet(path)
        return path

    def _insert(self, table: str, path: str) -> float:
        return once(lambda: self.store.execute(f"insert into {table} select * from parquet.{quoted_name(path)}"))

    def _plain(self, table: str) -> str:
        path = str(self.work / "plain")
        frame = self.store.read(table).repartition(self.buckets, *KEYS).sortWithinPartitions(*KEYS)
        frame.write.mode("overwrite").parquet(path)
        return f"parquet.{quoted_name(path)}"

    def _collect(self, sql: str) -> None:
        frame = self.store.execute(sql).dataframe
        assert frame is not None
        frame.collect()
