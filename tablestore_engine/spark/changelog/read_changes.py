"""Reading changes with Spark: `table_changes(…)`, `TableStore.changes`, and the read options `incremental-between…`.

The options are Paimon's. They name a range, from a bound that does not belong to it to one that does; `scan mode` says
which files hold the changes:

* `diff`: the states at both ends are compared;
* `delta`: the files that appends added, as they are: overwrites count for nothing;
* `changelog`: the changelog files of its commits, as they are, also where a later change undoes an earlier one;
* `auto`: whatever gives the changes that lead from one end to the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.changelog.change_plan import (
    ChangeRange,
    appended_plan,
    changelog_plan,
    commits_of,
    plan_changes,
    recorded_commits,
)
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.row_kind import KINDS, ROW_KIND
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS, VALUE_KIND
from tablestore_engine.spark.changelog.change_frame import change_frame
from tablestore_engine.spark.expressions.char_text import typed
from tablestore_engine.spark.read.merge_on_read import read_plan
from tablestore_engine.spark.read.records_for_rewrite import RecordReader
from tablestore_engine.spark.scan.file_scan import FileScans
from tablestore_engine.table import Table

BETWEEN, BETWEEN_TIMES, SCAN_MODE = (
    "incremental-between",
    "incremental-between-timestamp",
    "incremental-between-scan-mode",
)
READ_OPTIONS = (BETWEEN, BETWEEN_TIMES, SCAN_MODE)
"""The options of one read that ask for changes instead of rows."""
SCAN_MODES = ("auto", "diff", "delta", "changelog")


def read_changes(
    spark: SparkSession,
    table: Table,
    between: ChangeRange,
    predicate: Predicate | None = None,
    *,
    mode: str = "auto",
    columns: frozenset[str] | None = None,
) -> DataFrame:
    """The changes of a range: `_row_kind`, then the table's columns, of the schema that it has now.

    `predicate` leaves out files; the changes are not filtered by it. `columns` may leave out columns of other names.
    """
    table.options.check_readable()
    if mode == "delta":
        return _appended(spark, table, between, predicate)
    if mode == "changelog":
        return read_recorded(spark, table, between, predicate)
    return change_frame(spark, table, plan_changes(table.state, between, predicate), columns)


def read_incremental(
    spark: SparkSession, table: Table, options: Mapping[str, str], predicate: Predicate | None = None
) -> DataFrame:
    """The rows that a range of the read options added, or changed, as they are after it: the table's columns.

    Raises:
        OptionError: a range that cannot be read. ChangesNotFound, TagNotFound, UserError: as `change_range`.
    """
    between, mode = asked_range(table, options)
    changes = read_changes(spark, table, between, predicate, mode=mode)
    return changes.where(f"{ROW_KIND} IN ('+I', '+U')").drop(ROW_KIND)


def asked_range(table: Table, options: Mapping[str, str], *, auto: str = "auto") -> tuple[ChangeRange, str]:
    """The range that the read options ask for, and the scan mode; `auto` is the mode that `auto` means.

    Raises as `read_incremental`.
    """
    mode = options.get(SCAN_MODE, "auto").strip().lower()
    if mode not in SCAN_MODES:
        raise OptionError(
            f"'{mode}' is no value of option '{SCAN_MODE}'.", hint=f"It is one of: {', '.join(SCAN_MODES)}."
        )
    mode = auto if mode == "auto" else mode
    return _range_of(table, options, recorded=mode == "changelog"), mode


def _range_of(table: Table, options: Mapping[str, str], *, recorded: bool) -> ChangeRange:
    keys = [one for one in (BETWEEN, BETWEEN_TIMES) if one in options]
    if len(keys) > 1:
        raise OptionError(f"Options '{BETWEEN}' and '{BETWEEN_TIMES}' are two ranges.", hint="Give one of them.")
    key = next(iter(keys), None)
    if key is None:
        raise OptionError(f"Option '{SCAN_MODE}' needs a range.", hint=f"Set '{BETWEEN}' = '3,7', too.")
    bounds = [part.strip() for part in options[key].split(",")]
    numbers = key == BETWEEN or all(part.lstrip("-").isdigit() for part in bounds)
    if len(bounds) != 2 or not all(bounds) or not numbers:
        what = "two snapshots or tags" if key == BETWEEN else "two times in milliseconds since 1970"
        raise OptionError(
            f"'{options[key]}' is no value of option '{key}'.", hint=f"It is {what}, with a comma between them."
        )
    if key == BETWEEN:
        return table.change_range(bounds[0], bounds[1], recorded=recorded)
    start, end = (datetime.fromtimestamp(int(part) / 1000) for part in bounds)
    return table.change_range(start, end, recorded=recorded)


def _appended(spark: SparkSession, table: Table, between: ChangeRange, predicate: Predicate | None) -> DataFrame:
    plan = appended_plan(table.state, commits_of(table.state, between), predicate)
    if not plan.schema.primary_keys or not plan.buckets:
        return read_plan(spark, table, plan).selectExpr(f"{literal(KINDS[0])} AS {ROW_KIND}", "*")
    records = RecordReader(spark, table, plan, None).frame()
    return records.selectExpr(_kind_text(ROW_KIND_COLUMN), "*").drop(ROW_KIND_COLUMN)


def read_recorded(
    spark: SparkSession,
    table: Table,
    between: ChangeRange,
    predicate: Predicate | None = None,
    last: tuple[str, ...] = (),
) -> DataFrame:
    """The changelog files of a range. Those of one key come in no order; of one commit, each holds a change once.

    `last`: nothing, or `POSITIONS`. In a file, both rows of an update follow each other.
    """
    plan = changelog_plan(table.state, recorded_commits(table.state, between), predicate)
    scans = FileScans(spark, table, plan.schema)
    files = [(b, f) for b in plan.buckets for f in b.files]
    if not files:
        return scans.empty(last).selectExpr(f"{literal(KINDS[0])} AS {ROW_KIND}", "*")
    columns = [quoted_name(name) for name in plan.schema.field_names]
    columns += last
    rows = scans.scan(files, RECORD_COLUMNS, last)
    return typed(rows.selectExpr(_kind_text(VALUE_KIND.name), *columns), plan.schema)


def _kind_text(number: str) -> str:
    """SQL of the text of a row kind."""
    kinds = " ".join(f"WHEN {value} THEN {literal(kind)}" for value, kind in enumerate(KINDS))
    return f"CASE {number} {kinds} END AS {ROW_KIND}"
