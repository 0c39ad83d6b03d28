"""Columns that every table has and that `*` leaves out: where a row is stored.

They have Paimon's names and types: the file and the number of the row in it, the partition as a struct, and the bucket.
A row that is merged from several files is in none of them, so the first two exist only where nothing has to be merged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import SqlError
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.system_columns import BUCKET, FILE_PATH, PARTITION, ROW_INDEX
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN
from tablestore_engine.spark.scan.file_scan import read_positions
from tablestore_engine.table import Table

# Spark has it as a URI, Paimon as a plain path.
_PATH = f"url_decode(replace({FILE_COLUMN}, '+', '%2B'))"


def read_with_hidden(
    spark: SparkSession,
    table: Table,
    plan: ScanPlan,
    predicate: Predicate | None,
    names: Collection[str],
    *,
    positions: bool = False,
) -> DataFrame:
    """The rows of a scan plan with some of the hidden columns behind their own.

    `positions`: also with `FILE_COLUMN` and `POSITION_COLUMN`, which are of no merged row.

    Raises:
        SqlError: files or positions of rows that have to be merged.
    """
    reads_positions = positions or FILE_PATH in names or ROW_INDEX in names
    if reads_positions:
        _check_unmerged(table, plan)
    groups: dict[int, list[BucketScan]] = {}
    for bucket in plan.buckets:
        groups.setdefault(bucket.bucket, []).append(bucket)
    own = [quoted_name(name) for name in plan.schema.field_names]
    own += [FILE_COLUMN, POSITION_COLUMN] if positions else []
    partition = ", ".join(f"{literal(name)}, {quoted_name(name)}" for name in plan.schema.partition_keys)
    parts = []
    for number, buckets in sorted(groups.items()) or [(0, [])]:
        part = replace(plan, buckets=tuple(buckets))
        frame = read_positions(spark, table, part) if reads_positions else read_plan(spark, table, part, predicate)
        values = {
            FILE_PATH: _PATH,
            ROW_INDEX: POSITION_COLUMN,
            PARTITION: f"named_struct({partition})",
            BUCKET: f"cast({number} AS int)",
        }
        parts.append(frame.selectExpr(*own, *(f"{values[name]} AS {name}" for name in names)))
    return reduce(DataFrame.unionAll, parts)


def _check_unmerged(table: Table, plan: ScanPlan) -> None:
    if plan.schema.primary_keys:
        merges = any(section.needs_merge for _, section in plan.sections)
        merges = merges or any(file.delete_row_count != 0 for file in plan.files)
    else:
        merges = any(is_retraction(file) for file in plan.files)
    if merges:
        raise SqlError(
            f"{FILE_PATH} and {ROW_INDEX} are not known for rows of table {table.name} that are merged from several "
            "files.",
            hint=f"Compact it first: CALL sys.compact(table => '{table.name}').",
        )
