"""Statistics of a table's rows: counts, distinct values, bounds and lengths, in one Spark job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import SparkSession

from tablestore_engine.metadata.analyze_statistics import ColumnStatistics, Statistics, has_bounds, value_text
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.schema.types.types import BINARY_ROOTS, STRING_ROOTS, AtomicType, DataField, DataType
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.read.merge_on_read import read_table
from tablestore_engine.table import Table

# Bytes of a value, as Spark's own statistics count them.
_SIZES = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "FLOAT": 4}
_SIZE = 8
# Distinct values are counted by a sketch of 2^14 registers: an error below 1 %, and exact for small numbers. A sketch
# is one value; for approx_count_distinct, Spark would plan with 1,639 values for each column.
_SKETCH_BITS = 14


def analyze(
    spark: Callable[[], SparkSession], table: Table, snapshot: Snapshot, columns: Sequence[DataField]
) -> Statistics:
    """Statistics of a snapshot and of some of its columns, which are atomic.

    Spark starts only if rows have to be read: for columns, or if metadata does not determine the number of rows.
    """
    entries = table.live_files(snapshot)
    counted = table.count_rows(entries, snapshot)
    rows, found = counted.rows, dict[str, ColumnStatistics]()
    if columns or not counted.exact:
        rows, found = _read(spark(), table, snapshot, columns)
    return _statistics(table, snapshot, rows, found)


def known(table: Table, snapshot: Snapshot) -> Statistics:
    """Statistics of a snapshot without Spark: from metadata, and keys where files may hold the same key twice."""
    counted = table.count_rows(table.live_files(snapshot), snapshot)
    return _statistics(table, snapshot, counted.rows if counted.exact else None, {})


def _statistics(table: Table, snapshot: Snapshot, rows: int | None, columns: dict[str, ColumnStatistics]) -> Statistics:
    files = [entry.file for entry in table.live_files(snapshot)]
    size, records = sum(f.file_size for f in files), sum(f.row_count for f in files)
    if rows is not None and records:
        size = size * rows // records
    return Statistics(snapshot.id, snapshot.schema_id, rows, size, columns)


def _read(
    spark: SparkSession, table: Table, snapshot: Snapshot, columns: Sequence[DataField]
) -> tuple[int, dict[str, ColumnStatistics]]:
    items = ["count(*) AS n"]
    for number, column in enumerate(columns):
        items += [f"{item} AS {what}{number}" for what, item in _aggregates(column).items()]
    frame = read_table(spark, table, snapshot)
    answer = collect_arrow(spark.sql(f"SELECT {', '.join(items)} FROM {{rows}}", rows=frame)).to_pylist()[0]
    rows = int(answer["n"])
    return rows, {
        column.name: _column(column, {what: answer[f"{what}{number}"] for what in _aggregates(column)}, rows)
        for number, column in enumerate(columns)
    }


def _aggregates(column: DataField) -> dict[str, str]:
    name = formatted(column.name)
    sketch = f"hll_sketch_agg(if({name} IS NULL, NULL, xxhash64({name})), {_SKETCH_BITS})"
    found = {"given": f"count({name})", "distinct": f"hll_sketch_estimate({sketch})"}
    if has_bounds(column.type):
        found |= {"least": f"min({name})", "greatest": f"max({name})"}
    if _root(column.type) in (*STRING_ROOTS, *BINARY_ROOTS):
        found |= {"average": f"avg(octet_length({name}))", "longest": f"max(octet_length({name}))"}
    return found


def _column(column: DataField, found: dict[str, Any], rows: int) -> ColumnStatistics:
    given = int(found["given"])
    size = _SIZES.get(_root(column.type), _SIZE)
    longest, average = found.get("longest", size), found.get("average", size)
    return ColumnStatistics(
        column.id,
        # An estimate may exceed the number of rows.
        min(int(found["distinct"]), given),
        value_text(found.get("least"), column.type),
        value_text(found.get("greatest"), column.type),
        rows - given,
        round(average) if average is not None else 0,
        int(longest or 0),
    )


def _root(kind: DataType) -> str:
    return kind.root if isinstance(kind, AtomicType) else ""
