"""`t$audit_log`: the rows of a table with their kinds, `+I`, `-U`, `+U` or `-D`, in a column `rowkind` before the others.

Of each key it shows the newest record, so a deleted row stands there as `-D` until a compaction has dropped the record;
where keys cross partitions it shows the newest one of each partition.
Tables whose merge engine folds records, or that have no key, show what a query shows, as `+I`.
"""

from __future__ import annotations

from functools import cached_property, reduce

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.schema.row_kind import KINDS
from tablestore_engine.schema.system import VALUE_KIND
from tablestore_engine.spark.file_scan import Placed
from tablestore_engine.spark.names import formatted
from tablestore_engine.spark.reader import TableReader
from tablestore_engine.table import Table

ROW_KIND_COLUMN = "rowkind"


def audit_log(spark: SparkSession, table: Table, snapshot: Snapshot | None) -> DataFrame:
    """The rows with their kinds; of each key the newest record, so that deleted rows may be among them."""
    plan = table.scan(snapshot)
    schema = plan.schema
    if not schema.primary_keys or not schema.merge_engine.keeps_last:
        rows = TableReader(spark, table, plan, None).frame()
        return rows.selectExpr(f"'{KINDS[0]}' AS {ROW_KIND_COLUMN}", "*")
    return _AuditReader(spark, table, plan, None).frame()


class _AuditReader(TableReader):
    """Reads the newest record of each key, deleted or not."""

    def frame(self) -> DataFrame:
        single: list[Placed] = []
        merging: list[Placed] = []
        for bucket, section in self._plan.sections:
            files = [(bucket, file) for file in section.files]
            (merging if section.needs_merge else single).extend(files)
        parts = []
        if single:
            rows = self._scans.scan(single, system=True)
            parts.append(self._sql(f"SELECT {self._columns} FROM {{rows}}", rows=rows))
        if merging:
            in_place = self._schema.crosses_partitions
            rows = self._scans.scan(merging, system=True, positions=in_place)
            text = self._placed() if in_place else f"SELECT {self._with_system('u')} FROM {{rows}} u"
            parts.append(self._sql(self._newest(text), rows=rows))
        if not parts:
            return self._scans.empty().selectExpr(f"'{KINDS[0]}' AS {ROW_KIND_COLUMN}", "*")
        return reduce(DataFrame.unionAll, parts)

    @cached_property
    def _columns(self) -> str:
        kinds = " ".join(f"WHEN {number}Y THEN '{kind}'" for number, kind in enumerate(KINDS))
        own = ", ".join(formatted(n) for n in self._schema.field_names)
        return f"CASE {VALUE_KIND.name} {kinds} END AS {ROW_KIND_COLUMN}, {own}"
