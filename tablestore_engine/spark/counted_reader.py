"""Reading tables without a key as SQL over Spark's own Parquet scans; where nothing was retracted, that is all there is.

With R the retraction files and P the plain files that, by their statistics, may hold rows of R:

    other files  ∪  (P anti-join hashes(R))  ∪  repeat(sum of counts by row of ((P semi-join hashes(R)) ∪ R))

A row whose hash no retraction has is not retracted. The others are grouped by all columns, so rows that only share a
hash with a retracted one are told apart, and the grouping costs what was retracted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.mergetree.counting import NEGATIVE, is_retraction
from tablestore_engine.operation.scan import ScanPlan
from tablestore_engine.operation.touched import touched_by
from tablestore_engine.schema.system import COUNT
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.spark.changed_keys import BROADCAST_ROWS
from tablestore_engine.spark.file_scan import FileScans, Placed
from tablestore_engine.spark.fold_sql import literal
from tablestore_engine.spark.names import formatted

_COUNT = "__tablestore_count"
_AT = "__tablestore_block"
# A row is repeated in blocks, so that no array of all its copies is ever made.
_BLOCK = 65_536


def keyless_rows(
    spark: SparkSession, scans: FileScans, plan: ScanPlan, schemas: Callable[[int], TableSchema]
) -> DataFrame:
    """The rows of a plan of a table without a key. `schemas` loads the schema that a file was written with.

    Running it fails where a row was removed more often than it was added, and shows the row. Not where files of a
    bucket were left out that no row of the predicate is in: then it cannot be told.
    """
    alone: list[Placed] = []
    checked, pruned = _Touched(), _Touched()
    for bucket in plan.buckets:
        gone = [f for f in bucket.files if is_retraction(f)]
        may_touch = touched_by(gone, plan.schema, schemas)
        touched = pruned if bucket.pruned else checked
        touched.gone.extend((bucket, f) for f in gone)
        for file in bucket.files:
            if not is_retraction(file):
                (touched.plain if gone and may_touch(file) else alone).append((bucket, file))
    names = plan.schema.field_names
    parts = [scans.scan(alone)] if alone else []
    parts += [
        _Counted(spark, scans, names, one, check=one is checked).frame()
        for one in (checked, pruned)
        if one.gone
    ]
    return reduce(DataFrame.unionAll, parts) if parts else scans.empty()


@dataclass(frozen=True)
class _Touched:
    """Retraction files, and the plain files that they may take rows from."""

    plain: list[Placed] = field(default_factory=list)
    gone: list[Placed] = field(default_factory=list)


class _Counted:
    """The rows of files of which retractions take some."""

    def __init__(
        self,
        spark: SparkSession,
        scans: FileScans,
        names: Sequence[str],
        files: _Touched,
        *,
        check: bool,
    ) -> None:
        self._spark = spark
        self._scans = scans
        self._names = [formatted(n) for n in names]
        self._shown = names
        self._plain = files.plain
        self._gone = files.gone
        self._check = check

    def frame(self) -> DataFrame:
        gone = self._scans.scan(self._gone, counts=True)
        if not self._plain:
            return self._spark.sql(self._repeated(self._of_retractions()), gone=gone)
        text = f"{self._joined('ANTI', self._of('p'))} UNION ALL {self._repeated(self._all())}"
        return self._spark.sql(text, plain=self._scans.scan(self._plain), gone=gone)

    def _of(self, alias: str) -> str:
        return ", ".join(f"{alias}.{name}" for name in self._names)

    def _joined(self, kind: str, columns: str) -> str:
        """Query for the plain rows of which a retraction has the hash (SEMI), or none (ANTI)."""
        hint = "/*+ BROADCAST(c) */ " if sum(f.row_count for _, f in self._gone) <= BROADCAST_ROWS else ""
        hashes = f"SELECT DISTINCT xxhash64({self._of('r')}) AS h FROM {{gone}} r"
        on = f"xxhash64({self._of('p')}) = c.h"
        return f"SELECT {hint}{columns} FROM {{plain}} p LEFT {kind} JOIN ({hashes}) c ON {on}"

    def _of_retractions(self) -> str:
        return f"SELECT {self._of('r')}, r.{formatted(COUNT.name)} AS {_COUNT} FROM {{gone}} r"

    def _all(self) -> str:
        added = self._joined("SEMI", f"{self._of('p')}, 1L AS {_COUNT}")
        return f"{added} UNION ALL {self._of_retractions()}"

    def _repeated(self, counted: str) -> str:
        """Query for the rows whose counts do not sum up to zero, each as often as they do."""
        columns = ", ".join(self._names)
        summed = f"SELECT {columns}, sum({_COUNT}) AS {_COUNT} FROM ({counted}) GROUP BY {columns}"
        if self._check:
            checked = f"CASE WHEN {_COUNT} < 0 THEN raise_error({self._complaint()}) ELSE {_COUNT} END"
            summed = f"SELECT {columns}, {checked} AS {_COUNT} FROM ({summed})"
        left = f"SELECT * FROM ({summed}) WHERE {_COUNT} > 0"
        blocks = f"explode(sequence(0L, (t.{_COUNT} - 1L) div {_BLOCK}L))"
        copies = f"explode(array_repeat(0, cast(least(t.{_COUNT} - a.{_AT} * {_BLOCK}L, {_BLOCK}L) as int)))"
        return (
            f"SELECT {self._of('t')} FROM ({left}) t LATERAL VIEW {blocks} a AS {_AT} LATERAL VIEW {copies} b"
        )

    def _complaint(self) -> str:
        """SQL of the message that shows a row."""
        parts = [literal(f"{NEGATIVE} (total "), f"cast({_COUNT} as string)", literal("): {")]
        for number, (name, column) in enumerate(zip(self._shown, self._names, strict=True)):
            parts += [
                literal(f"{', ' if number else ''}'{name}': "),
                f"coalesce(cast({column} as string), 'None')",
            ]
        return f"concat({', '.join(parts)}, {literal('}.')})"
