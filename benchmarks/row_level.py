"""The cost of UPDATE, DELETE and MERGE of few rows of a large table: measured by an INSERT of as many rows."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import functions as F

from benchmarks.data import KEYS
from benchmarks.measure import Report, once
from tablestore_engine import TableStore
from tablestore_engine.schema.types.sql_literals import quoted_name

FEW, MANY = 600, 60_000
_ON = " and ".join(f"t.{key} = s.{key}" for key in KEYS)
_STAR = "when matched then update set * when not matched then insert *"
_CONDITIONS = (
    "when matched and s.l_quantity > 45 then delete"
    " when matched then update set l_quantity = s.l_quantity + 1 when not matched then insert *"
)
_DAY = "l_shipdate = date'1995-03-05'"
_RUNS = 3


class RowLevelBenchmark:
    """On one loaded table of lineitem, whose rows are those of the Parquet files at `source`."""

    def __init__(self, store: TableStore, work: Path, table: str, source: str, label: str) -> None:
        self.store, self.work, self.table, self.source, self.label = store, work, table, source, label
        self.rows = store.spark.read.parquet(source)
        self.all = self.rows.count()

    def run(self, report: Report) -> dict[str, float]:
        """All statements. Returns the seconds of each, to be compared with those of another scale."""
        many = min(MANY, self.all // 10)
        paths = {size: self._changes(size) for size in (FEW, many)}
        few, more = (f"parquet.{quoted_name(paths[size])}" for size in (FEW, many))
        insert_few, insert_many = f"insert into {{t}} select * from {few}", f"insert into {{t}} select * from {more}"
        merge = f"merge into {{t}} t using (select * from {{s}}) s on {_ON} {{c}}"
        keys = f"(select {', '.join(KEYS)} from {few})"
        statements = {
            f"MERGE star / star of {many:,} rows": (merge.replace("{s}", more).replace("{c}", _STAR), insert_many, 1.3),
            f"MERGE of {FEW} rows with conditions": (
                merge.replace("{s}", few).replace("{c}", _CONDITIONS), insert_few, 3.0
            ),
            f"UPDATE of {FEW} keys of a subquery": (
                f"update {{t}} set l_quantity = 1 where ({', '.join(KEYS)}) in {keys}", insert_few, 3.0
            ),
            f"DELETE of {FEW} keys of a subquery": (
                f"delete from {{t}} where ({', '.join(KEYS)}) in {keys}", insert_few, 3.0
            ),
        }  # fmt: skip
        found: dict[str, float] = {}
        for what, (statement, insert, bar) in statements.items():
            # In turn, so that each finds the same rows and nearly as many runs; the first of each warms both up.
            times = [(self._seconds(insert), self._seconds(statement)) for _ in range(_RUNS + 1)][1:]
            found[what] = min(mine for _, mine in times)
            report.add(f"{self.label}: {what} ÷ INSERT of them", found[what], min(base for base, _ in times), bar)
        self._scans(report, merge.replace("{s}", more).replace("{c}", _CONDITIONS), many)
        return found

    def _scans(self, report: Report, merge: str, many: int) -> None:
        """The ratios to a read of the plain Parquet files."""
        whole = min(once(lambda: self.rows.write.format("noop").mode("overwrite").save()) for _ in range(2))
        insert = f"insert into {{t}} select * from parquet.{quoted_name(self._changes(many))}"
        # The insert brings back what the MERGE before it deleted; the first MERGE warms up, as the first read does.
        times = [(self._seconds(insert), self._seconds(merge)) for _ in range(_RUNS)][1:]
        what = f"{self.label}: MERGE of {many:,} rows with conditions ÷ reading all of plain Parquet"
        report.add(what, min(mine for _, mine in times), whole, 0.8)
        day = self.rows.where(_DAY)
        path = str(self.work / "day")
        day.write.mode("overwrite").parquet(path)
        read = min(once(lambda: day.write.format("noop").mode("overwrite").save()) for _ in range(2))
        insert = self._seconds(f"insert into {{t}} select * from parquet.{quoted_name(path)}")
        update = min(self._seconds(f"update {{t}} set l_tax = 0 where {_DAY}") for _ in range(2))
        report.add(f"{self.label}: UPDATE of one day ÷ reading and inserting its rows", update, read + insert, 1.5)

    def _changes(self, size: int) -> str:
        """About so many rows of the table, chosen at random, as Parquet."""
        path = str(self.work / f"changed_{size}")
        chosen = F.pmod(F.hash(*KEYS, F.lit(11)), F.lit(max(self.all // size, 1))) == 0
        self.rows.where(chosen).coalesce(1).write.mode("overwrite").parquet(path)
        return path

    def _seconds(self, statement: str) -> float:
        return once(lambda: self.store.execute(statement.replace("{t}", self.table)))
