"""`t$binlog`: the rows of `t$audit_log`, with both rows of an update as one: each column is a list of its values.

The list of an update (`+U`) has the value before and the value after; that of any other row has one value. As Paimon's,
only reads of a range of snapshots (`incremental-between`) know what was before.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.operation.changelog.change_plan import ChangeRange, key_columns
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.changelog.audit_log import ROW_KIND_COLUMN
from tablestore_engine.spark.changelog.read_changes import read_changes, read_recorded
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN, POSITIONS
from tablestore_engine.table import Table

_BEFORE, _AFTER = literal(KINDS[1]), literal(KINDS[2])
_NEXT = "__tablestore_next"
_NEXT_KIND, _LAST_KIND = "__tablestore_next_kind", "__tablestore_last_kind"


def single_rows(rows: DataFrame) -> DataFrame:
    """The rows of an audit log as those of a binlog."""
    return rows.selectExpr(
        ROW_KIND_COLUMN,
        *(f"array({quoted_name(n)}) AS {quoted_name(n)}" for n in rows.columns if n != ROW_KIND_COLUMN),
    )


def binlog_between(spark: SparkSession, table: Table, between: ChangeRange, mode: str) -> DataFrame:
    """The changes of a range, read in a scan mode."""
    if mode == "changelog":
        changes = read_recorded(spark, table, between, last=POSITIONS)
        return _paired(spark, table, changes, f"PARTITION BY {FILE_COLUMN} ORDER BY {POSITION_COLUMN}")
    changes = read_changes(spark, table, between, mode=mode)
    if mode == "delta" or not table.schema.primary_keys:
        return single_rows(changes.withColumnRenamed(ROW_KIND, ROW_KIND_COLUMN))
    keys = ", ".join(quoted_name(name) for name in key_columns(table.schema))
    return _paired(spark, table, changes, f"PARTITION BY {keys} ORDER BY {ROW_KIND} = {_AFTER}")


def _paired(spark: SparkSession, table: Table, changes: DataFrame, window: str) -> DataFrame:
    """The changes, where -U and the +U that follows it in the window are one row."""
    names = [quoted_name(name) for name in table.schema.field_names]
    seen = (
        f"SELECT {ROW_KIND}, {', '.join(names)}, lead(struct({', '.join(names)})) OVER w AS {_NEXT},"
        f" lead({ROW_KIND}) OVER w AS {_NEXT_KIND}, lag({ROW_KIND}) OVER w AS {_LAST_KIND}"
        f" FROM {{changes}} WINDOW w AS ({window})"
    )
    update = f"{ROW_KIND} = {_BEFORE} AND {_NEXT_KIND} <=> {_AFTER}"
    items = [f"if({update}, {_AFTER}, {ROW_KIND}) AS {ROW_KIND_COLUMN}"]
    items += [f"if({update}, array({name}, {_NEXT}.{name}), array({name})) AS {name}" for name in names]
    shown = f"NOT ({ROW_KIND} = {_AFTER} AND {_LAST_KIND} <=> {_BEFORE})"
    return spark.sql(f"SELECT {', '.join(items)} FROM ({seen}) WHERE {shown}", changes=changes)
