"""Reading records for a rewrite: the one record, with its kind, into which the records of each key merge.

A query does not show all records that a table holds. Where a row that comes late may be older than a delete
(`sequence.field`), the delete stays a record, by which that row is known to be late; files that are written anew must
go on holding it. Elsewhere the rows are all there is to write.
"""

from __future__ import annotations

from functools import cached_property, reduce

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule
from tablestore_engine.schema.merge_engines.engine_rules import Kept, Retraction
from tablestore_engine.schema.table.row_kind import DELETE_KIND, UPDATE_BEFORE_KIND
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, VALUE_KIND
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.expressions.spark_types import to_spark_type
from tablestore_engine.spark.folds.late_records_sql import with_effects_sql
from tablestore_engine.spark.folds.sequence_group_deletes_sql import without_idle_sql
from tablestore_engine.spark.read.merge_on_read import ALIVE, TableReader, read_plan
from tablestore_engine.spark.scan.arrow_scan import POSITIONS
from tablestore_engine.spark.scan.file_scan import BucketFile
from tablestore_engine.table import Table


def read_records(spark: SparkSession, table: Table, plan: ScanPlan) -> DataFrame:
    """The rows of a plan; and where deletes must outlive a rewrite, these, too, all with their `ROW_KIND_COLUMN`."""
    engine = plan.schema.merge_engine
    removes = engine.rules.kept is Kept.NEWEST or engine.removes_on_delete or engine.has_sequence_groups
    late = removes and plan.schema.core_options.sequence_field
    if not late or all(f.delete_row_count == 0 for b in plan.buckets for f in b.files):
        return read_plan(spark, table, plan)
    return RecordReader(spark, table, plan, None).frame()


class RecordReader(TableReader):
    """Reads one record of each key, deleted or not, of a plan that has files."""

    def frame(self) -> DataFrame:
        single: list[BucketFile] = []
        merging: list[BucketFile] = []
        for bucket, section in self._plan.sections:
            files = [(bucket, file) for file in section.files]
            (merging if section.needs_merge else single).extend(files)
        parts = []
        if single:
            rows = self._scans.scan(single, RECORD_COLUMNS)
            parts.append(self._sql(f"SELECT {self._columns} FROM {{rows}}", rows=rows))
        if merging:
            across_partitions = self._schema.crosses_partitions
            rows = self._scans.scan(merging, RECORD_COLUMNS, POSITIONS if across_partitions else ())
            records = (
                self._with_directory() if across_partitions else f"SELECT {self._with_system('u')} FROM {{rows}} u"
            )
            whole = self._schema.merge_engine.rules.kept is Kept.NEWEST
            text = self._newest(records) if whole else self._folded(records, retractions=True)
            parts.append(self._sql(text, rows=rows))
        return reduce(DataFrame.unionAll, parts)

    @cached_property
    def _columns(self) -> str:
        own = ", ".join(formatted(n) for n in self._schema.field_names)
        return f"{own}, {VALUE_KIND.name} AS {ROW_KIND_COLUMN}"

    def _folded(self, rows: str, *, retractions: bool) -> str:
        """The fold of the records of each key: a retraction while all of them are, as in
        `mergetree.merge.fold_records`."""
        engine = self._schema.merge_engine
        rows = self._in_positions(rows)
        if engine.removes_on_delete:
            rows = self._since_deletes(rows, with_last=True)
        if engine.removing_groups:
            rows = self._with_group_deletes(rows)
        if engine.rules.retraction is Retraction.AS_RECORD:
            rows = without_idle_sql(rows, self._group)
        if engine.late_groups:
            rows = with_effects_sql(rows, engine.late_groups, self._group)
        shown = f"bool_or(r.{ALIVE})"
        folded = self._fold_columns(retractions)
        columns = [self._as_record(f, folded[f.name], shown) for f in self._schema.fields]
        # A -D would remove what comes after it once more; the rest of it is no such delete
        # (`mergetree.merge.fold_records`).
        hidden = UPDATE_BEFORE_KIND if engine.removing_groups else DELETE_KIND
        kind = f"CASE WHEN {shown} THEN 0Y ELSE {hidden}Y END AS {ROW_KIND_COLUMN}"
        return f"SELECT {', '.join([*columns, kind])} FROM ({rows}) r GROUP BY {self._group}"

    def _as_record(self, field: DataField, folded: str, shown: str) -> str:
        retract_rule = {fold.column: fold.retract_rule for fold in self._schema.merge_engine.folds}
        if retract_rule.get(field.name) is RetractRule.NEGATE:
            # Retractions hold the number that they take back.
            kind = to_spark_type(field.type).simpleString()
            folded = f"CASE WHEN {shown} THEN {folded} ELSE cast(-({folded}) AS {kind}) END"
        return f"{folded} AS {formatted(field.name)}"
