"""The changes of tables that the queries of one statement read. Those of few keys are computed once and held: the rows
of another table may be looked up by their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.changelog.change_plan import ChangeRange, plan_changes
from tablestore_engine.operation.scan.cast_columns import without_casts
from tablestore_engine.spark.changelog.change_frame import few_changes, frame_of_changes
from tablestore_engine.spark.changelog.read_changes import read_changes
from tablestore_engine.sql.pinned_queries.joined_rows import JoinedSource
from tablestore_engine.sql.pinned_queries.time_travel import bound_of
from tablestore_engine.sql.query.bind import TableReference
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Evaluated = Callable[[str], "DataFrame"]


class TableChanges:
    """`only_columns`: the rows are not asked for. `evaluated` gives the milliseconds of a time in SQL."""

    def __init__(self, spark: SparkSession, *, only_columns: bool) -> None:
        self._spark = spark
        self._only_columns = only_columns
        self._found: dict[tuple[object, ...], tuple[ChangeRange, pa.Table | None]] = {}

    def frame(
        self, table: Table, pinned: Snapshot | None, reference: TableReference, suffix: str, evaluated: Evaluated
    ) -> tuple[DataFrame, int | None]:
        """The changes that a reference reads, by default up to the snapshot at which the statement reads the table; and
        their bytes, if they are held."""
        if suffix:
            raise SqlError(f"'{table.name}${suffix}' is a system table, of which no changes are kept.")
        table.options.check_readable()
        between, few = self._few(table, pinned, reference, evaluated)
        if few is not None:
            return frame_of_changes(self._spark, few, table.schema), few.nbytes
        return read_changes(self._spark, table, between, without_casts(reference.predicate, table.schema)), None

    def source(
        self, table: Table, pinned: Snapshot | None, reference: TableReference, evaluated: Evaluated
    ) -> JoinedSource | None:
        """The same as the source of a join, if they are held."""
        between, few = self._few(table, pinned, reference, evaluated)
        if few is None:
            return None
        state = (table.path, between.before and between.before.mark, between.after and between.after.mark)
        return JoinedSource(table, (state, table.schema.id, reference.changes), few.num_rows, few.select)

    def _few(
        self, table: Table, pinned: Snapshot | None, reference: TableReference, evaluated: Evaluated
    ) -> tuple[ChangeRange, pa.Table | None]:
        key = (table.identifier, reference.changes, repr(reference.predicate), reference.columns)
        if key not in self._found:
            start, *end = [bound_of(table, one, evaluated) for one in reference.changes]
            between = table.change_range(start, end[0] if end else pinned.id if pinned else 0)
            if self._only_columns:
                between = ChangeRange(between.after, between.after)
            plan = plan_changes(table.state, between, without_casts(reference.predicate, table.schema))
            self._found[key] = between, few_changes(table, plan, reference.columns)
        return self._found[key]
