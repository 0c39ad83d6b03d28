"""Reading tables without a key as Spark SQL, without the rows that retractions take back: by position, or by hash.

Where there are no retractions, Spark's own Parquet scans are the whole read.

With R the retraction files and P the plain files that, by their statistics, may hold rows of R, there are two plans. By
position, where it is worth computing the positions of the retracted rows (`multiset_retracted_rows`): P is read without
them, and only in the columns that a query asks for.

    other files  ∪  (P anti-join positions(R))

By hash, for retractions that are too many to be held here, and for queries for few rows, which Spark filters before it
counts:

    other files  ∪  (P anti-join hashes(R))  ∪  repeat(sum of counts by row of ((P semi-join hashes(R)) ∪ R))

The hash is of discriminating columns. A row whose hash no retraction has is not retracted. The others are grouped by
all columns, so rows that only share a hash with a retracted one are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce

from pyspark.sql import DataFrame

from tablestore_engine.mergetree.multiset.multiset import is_retraction, negative_count, negative_in
from tablestore_engine.operation.scan.discriminating_columns import discriminating_columns
from tablestore_engine.operation.scan.multiset_file_overlap import overlapping_with, values_of
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.schema.table.predicate import Predicate, fixes_a_column
from tablestore_engine.schema.types.system_columns import COUNT, COUNT_COLUMNS
from tablestore_engine.spark.expressions.equal_rows import summed_rows
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal
from tablestore_engine.spark.queries.collect import arrow_frame
from tablestore_engine.spark.read.changed_keys import BROADCAST_ROWS
from tablestore_engine.spark.read.multiset_retracted_rows import OverlappingFiles, RetractedRows, RetractedRowsFinder
from tablestore_engine.spark.scan.arrow_scan import SIZES
from tablestore_engine.spark.scan.file_scan import BucketFile, FileScans

_COUNT = "__tablestore_count"
_AT = "__tablestore_block"
# A row is repeated in blocks, so that no array of all its copies is ever made.
_BLOCK = 65_536


def multiset_frame(scans: FileScans, plan: ScanPlan, predicate: Predicate | None = None) -> DataFrame:
    """The rows of a plan of a table without a key.

    `predicate` says which rows are asked for; others may be missing, or be there though they were retracted.

    Raises:
        NegativeCountError: a row was removed more often than it was added; running the rows may fail with it, too. Not
            where files of a bucket were left out that no row of the predicate is in: then it cannot be known.
    """
    alone: list[BucketFile] = []
    checked, pruned = OverlappingFiles(), OverlappingFiles()
    for bucket in plan.buckets:
        retractions = [f for f in bucket.files if is_retraction(f)]
        may_overlap = overlapping_with(retractions, plan.schema, scans.schema_of)
        files = pruned if bucket.pruned else checked
        files.retractions.extend((bucket, f) for f in retractions)
        for file in bucket.files:
            if not is_retraction(file):
                (files.plain if retractions and may_overlap(file) else alone).append((bucket, file))
    few = fixes_a_column(predicate, plan.schema.key, plan.schema.partition_keys)
    parts: list[DataFrame] = []
    for files in (checked, pruned):
        if files.retractions:
            whole, frames = _MultisetFrames(scans, files, check=files is checked).parts(few)
            alone += whole
            parts += frames
    if alone:
        parts.insert(0, scans.scan(alone))
    return reduce(DataFrame.unionAll, parts) if parts else scans.empty()


def repeated_sql(rows: str, columns: Sequence[str]) -> str:
    """Query for each row of a query as often as its `__tablestore_count` says, which is positive."""
    blocks = f"explode(sequence(0L, (t.{_COUNT} - 1L) div {_BLOCK}L))"
    copies = f"explode(array_repeat(0, cast(least(t.{_COUNT} - a.{_AT} * {_BLOCK}L, {_BLOCK}L) as int)))"
    shown = ", ".join(f"t.{name}" for name in columns)
    return f"SELECT {shown} FROM ({rows}) t LATERAL VIEW {blocks} a AS {_AT} LATERAL VIEW {copies} b"


class _MultisetFrames:
    """The rows of files of which retractions take some."""

    def __init__(self, scans: FileScans, files: OverlappingFiles, *, check: bool) -> None:
        self._spark = scans.spark
        self._scans = scans
        self._schema = scans.schema
        self._files = files
        self._shown = scans.schema.field_names
        self._names = [formatted(n) for n in self._shown]
        self._check = check

    def parts(self, few: bool) -> tuple[list[BucketFile], list[DataFrame]]:
        """The rows: files of which all rows stay, and frames. `few` says that a query asks for few rows."""
        retracted = self._retracted(few) if self._files.plain else None
        if retracted is None:
            return [], [self._by_hash()]
        if self._check and retracted.missing is not None:
            raise negative_count(*retracted.missing, table=self._scans.table_name)
        whole = [one for one in self._files.plain if one[1].file_size not in retracted.sizes]
        holed = [one for one in self._files.plain if one[1].file_size in retracted.sizes]
        if not holed:
            return whole, []
        return whole, [self._by_position(holed, retracted)]

    def _retracted(self, few: bool) -> RetractedRows | None:
        """The retracted rows, where looking for them is worth it; None where it is not."""
        finder = RetractedRowsFinder(self._scans, self._files)
        if not few:
            return finder.find()
        retracted = finder.known()
        # An error in other rows is not reported to this query.
        return None if retracted is None or retracted.missing is not None else retracted

    def _by_position(self, files: list[BucketFile], retracted: RetractedRows) -> DataFrame:
        on = retracted.positions.joined("p", "h")
        text = (
            f"SELECT /*+ BROADCAST(h) */ {self._qualified('p')} FROM {{plain}} p LEFT ANTI JOIN {{retracted}} h ON {on}"
        )
        positions = arrow_frame(self._spark, retracted.table)
        return self._spark.sql(text, plain=self._scans.scan(files, last=SIZES), retracted=positions)

    def _by_hash(self) -> DataFrame:
        retractions = self._scans.scan(self._files.retractions, COUNT_COLUMNS)
        if not self._files.plain:
            return self._spark.sql(self._repeated(self._of_retractions()), retractions=retractions)
        text = f"{self._joined('ANTI', self._qualified('p'))} UNION ALL {self._repeated(self._all())}"
        return self._spark.sql(text, plain=self._scans.scan(self._files.plain), retractions=retractions)

    def _qualified(self, alias: str) -> str:
        return ", ".join(f"{alias}.{name}" for name in self._names)

    def _joined(self, kind: str, columns: str) -> str:
        """Query for the plain rows of which a retraction has the hash (SEMI), or none (ANTI)."""
        hint = "/*+ BROADCAST(c) */ " if sum(f.row_count for _, f in self._files.retractions) <= BROADCAST_ROWS else ""
        hashes = f"SELECT DISTINCT xxhash64({self._discriminating('r')}) AS h FROM {{retractions}} r"
        on = f"xxhash64({self._discriminating('p')}) = c.h"
        return f"SELECT {hint}{columns} FROM {{plain}} p LEFT {kind} JOIN ({hashes}) c ON {on}"

    def _discriminating(self, alias: str) -> str:
        return ", ".join(f"{alias}.{formatted(name)}" for name in self._discriminating_columns) or "0"

    @cached_property
    def _discriminating_columns(self) -> tuple[str, ...]:
        retractions = (f for _, f in self._files.retractions)
        return discriminating_columns(self._schema.fields, values_of(retractions, self._schema, self._scans.schema_of))

    def _of_retractions(self) -> str:
        return f"SELECT {self._qualified('r')}, r.{formatted(COUNT.name)} AS {_COUNT} FROM {{retractions}} r"

    def _all(self) -> str:
        added = self._joined("SEMI", f"{self._qualified('p')}, 1L AS {_COUNT}")
        return f"{added} UNION ALL {self._of_retractions()}"

    def _repeated(self, multiset: str) -> str:
        """Query for the rows whose counts do not sum up to zero, each as often as they do."""
        columns = ", ".join(self._names)
        summed = summed_rows(self._scans.schema.fields, _COUNT, multiset)
        if self._check:
            checked = f"CASE WHEN {_COUNT} < 0 THEN raise_error({self._complaint()}) ELSE {_COUNT} END"
            summed = f"SELECT {columns}, {checked} AS {_COUNT} FROM ({summed})"
        return repeated_sql(f"SELECT * FROM ({summed}) WHERE {_COUNT} > 0", self._names)

    def _complaint(self) -> str:
        """SQL of the message that shows a row."""
        said = negative_in(self._scans.table_name)
        parts = [formatted_literal(f"{said} (total "), f"cast({_COUNT} as string)", formatted_literal("): {")]
        for number, (name, column) in enumerate(zip(self._shown, self._names, strict=True)):
            parts += [
                formatted_literal(f"{', ' if number else ''}'{name}': "),
                f"coalesce(cast({column} as string), 'None')",
            ]
        return f"concat({', '.join(parts)}, {formatted_literal('}.')})"
