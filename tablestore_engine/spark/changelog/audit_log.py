"""`t$audit_log`: the rows of a table with their kinds, `+I`, `-U`, `+U` or `-D`, in a column `rowkind` before the
others.

Of each key it shows the newest record, so a deleted row is shown as `-D` until a compaction has dropped the record;
where keys cross partitions it shows the newest one of each partition.
Tables whose merge engine folds records, or that have no key, show what a query shows, as `+I`.
"""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.row_kind import KINDS
from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.schema.types.system_columns import VALUE_KIND
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal
from tablestore_engine.spark.read.merge_on_read import TableReader
from tablestore_engine.spark.read.records_for_rewrite import RecordReader
from tablestore_engine.table import Table

ROW_KIND_COLUMN = "rowkind"


def audit_log(spark: SparkSession, table: Table, snapshot: Snapshot | None) -> DataFrame:
    """The rows with their kinds; of each key the newest record, so that deleted rows may be among them."""
    plan = table.scan(snapshot)
    schema = plan.schema
    if not schema.primary_keys or schema.merge_engine.rules.kept is not Kept.NEWEST or not plan.buckets:
        rows = TableReader(spark, table, plan, None).frame()
        return rows.selectExpr(f"{literal(KINDS[0])} AS {ROW_KIND_COLUMN}", "*")
    return _AuditReader(spark, table, plan, None).frame()


class _AuditReader(RecordReader):
    """Reads the newest record of each key with the name of its kind."""

    @cached_property
    def _columns(self) -> str:
        kinds = " ".join(f"WHEN {number}Y THEN {formatted_literal(kind)}" for number, kind in enumerate(KINDS))
        own = ", ".join(formatted(n) for n in self._schema.field_names)
        return f"CASE {VALUE_KIND.name} {kinds} END AS {ROW_KIND_COLUMN}, {own}"
