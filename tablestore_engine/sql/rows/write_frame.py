"""Writing a DataFrame by the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import SchemaError
from tablestore_engine.operation.commit.identity import applied_before
from tablestore_engine.operation.commit.replace import everything
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.spark.verbs.insert_overwrite import insert
from tablestore_engine.spark.verbs.insert_overwrite import overwrite as replace_rows
from tablestore_engine.spark.write.align import align
from tablestore_engine.spark.write.writer import Rows
from tablestore_engine.sql.rows.merge_schema import incoming_columns, merged
from tablestore_engine.sql.rows.session_options import besides_identity, identity_of, of_write, session_options
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write_frame(
    load: Callable[[], Table], frame: DataFrame, options: Mapping[str, str], intent: WriteIntent, *, overwrite: bool
) -> int:
    """Append rows, upsert them by key, or replace all rows; returns the number of rows given.

    The session's options for the table hold, too, and its identity if `intent` has none. 0 when a write of the same
    identity was applied before.

    Raises:
        SchemaError: no rows, or columns that do not fit. Others as `TableStore.write`.
    """
    _check_frame(frame)
    spark = frame.sparkSession
    given = {**of_write(session_options(spark), *load().identifier), **options}
    intent = intent if intent.identity is not None else replace(intent, identity=identity_of(given))

    def attempt() -> int:
        table = load().with_options(besides_identity(given), "write")
        if applied_before(table.snapshot_store, intent.identity) is not None:
            return 0
        if table.options.write_merge_schema:
            table = merged(table, incoming_columns(frame, table.schema))
        else:
            _check_complete(frame, table)
        rows = Rows(align(frame, table.schema, by_name=True))
        if overwrite:
            return replace_rows(spark, table, rows, everything, intent).rows
        return insert(spark, table, rows, intent).rows

    return with_retry(attempt)


def _check_frame(rows: object) -> None:
    from pyspark.sql import DataFrame

    if not isinstance(rows, DataFrame):
        raise SchemaError(
            f"Rows must be a Spark DataFrame, and this is a {type(rows).__name__}.",
            hint="`store.spark.createDataFrame(...)` creates one; `store.table(...).write(...)` takes Arrow tables.",
        )


def _check_complete(frame: DataFrame, table: Table) -> None:
    """Refuse missing columns: they would be set to null in existing rows."""
    given = {name.lower() for name in frame.columns}
    missing = [f.name for f in table.schema.fields if f.name.lower() not in given and f.default_value is None]
    if missing and not table.schema.merge_engine.folds:
        raise SchemaError(
            f"The rows do not fit the table: no column {', '.join(missing)}.",
            hint=f"The table has: {', '.join(table.schema.field_names)}.",
        )
