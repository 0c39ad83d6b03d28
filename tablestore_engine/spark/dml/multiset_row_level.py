"""Row-level operations on a multiset table: each old row is retracted, each new one added.

Equal rows cannot be distinguished, so a changed row carries its whole old row (`OLD_COLUMN`, null for a new row). If
one row may be changed twice, as by MERGE, it also carries `POSITION_COLUMN`, a number of the target's row.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tablestore_engine.errors import SqlError
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.scan.arrow_scan import POSITION_COLUMN

OLD_COLUMN = "__tablestore_old"


def with_old_rows(rows: DataFrame, names: Sequence[str], *, positions: bool) -> DataFrame:
    """The rows of a table, whose columns are `names`, each with itself in `OLD_COLUMN` and, if asked for, a number in
    `POSITION_COLUMN`."""
    old = F.struct(*[F.col(quoted_name(name)) for name in names]).alias(OLD_COLUMN)
    # With a number, Spark cannot push filters below it.
    numbers = [F.monotonically_increasing_id().alias(POSITION_COLUMN)] if positions else []
    return rows.select("*", old, *numbers)


def count_changed_rows(changed: DataFrame) -> int:
    """The number of changed rows. Raises SqlError when a row of the target is changed twice."""
    counts = [F.count(F.lit(1)).alias("rows")]
    if POSITION_COLUMN in changed.columns:
        counts += [
            F.count(POSITION_COLUMN).alias("old"),
            F.count_distinct(POSITION_COLUMN).alias("positions"),
        ]
    found = collect_arrow(changed.agg(*counts)).to_pylist()[0]
    if found.get("old") != found.get("positions"):
        raise several_rows()
    return int(found["rows"])


def several_rows() -> SqlError:
    """A row of the target is changed by several rows of the source."""
    return SqlError(
        "MERGE found several source rows for one row of the target, so its result is not determined.",
        hint="Make the source unique by the columns of the ON condition.",
    )


def as_records(changed: DataFrame, schema: TableSchema, is_put: Column) -> DataFrame:
    """The changed rows as records, with `ROW_KIND_COLUMN`; `is_put` says which of them put a row."""
    names = schema.field_names

    def kind(number: int) -> Column:
        return F.lit(number).cast("tinyint").alias(ROW_KIND_COLUMN)

    old = [F.col(OLD_COLUMN).getField(name).alias(name) for name in names]
    removed = changed.where(F.col(OLD_COLUMN).isNotNull()).select(*old, kind(DELETE_KIND))
    put = changed.where(is_put).select(*[F.col(quoted_name(name)) for name in names], kind(0))
    return removed.unionAll(put)
