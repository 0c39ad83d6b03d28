"""Writing a DataFrame by the names of its columns: `TableStore.write`, and the batches of a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import SchemaError
from tablestore_engine.operation.commit.replace_table import everything
from tablestore_engine.operation.table_commands.after_commit import sent_before
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.types.names import Names
from tablestore_engine.spark.compact.compactor import execute_tasks
from tablestore_engine.spark.dml.insert_overwrite import insert
from tablestore_engine.spark.dml.insert_overwrite import overwrite as replace_rows
from tablestore_engine.spark.errors.failed_statements import failing
from tablestore_engine.spark.write.align_columns import align_by_name
from tablestore_engine.spark.write.writer import Rows
from tablestore_engine.sql.pinned_queries.session_options import (
    besides_identity,
    identity_of,
    of_write,
    session_options,
)
from tablestore_engine.sql.write_statements.merge_schema import evolves, incoming_columns, merged
from tablestore_engine.table import Table


def write_frame(
    spark: SparkSession, load: Callable[[], Table], frame: DataFrame, *, intent: WriteIntent, overwrite: bool = False
) -> int:
    """Append a DataFrame, upsert it by key, or replace all rows by it. Returns the number of rows given; 0 when they
    were sent before.

    `load` finds the table at each attempt. The DataFrame is known to be one (`check_frame`).

    Raises:
        CommitIdentityError, SchemaError, PrimaryKeyError, ConflictError: as `TableStore.write`.
    """

    def attempt() -> int:
        table = load()
        if sent_before(table.state, intent.identity, partial(execute_tasks, lambda: spark)) is not None:
            return 0
        with failing("Writing to table", lambda: table.name):
            if table.options.write_merge_schema:
                table = merged(table, incoming_columns(frame, table.schema), spark)
            else:
                check_complete(frame, table)
            rows = Rows(align_by_name(frame, table.schema, fills=evolves(table)))
            if overwrite:
                return replace_rows(spark, table, rows, everything, intent).rows
            return insert(spark, table, rows, intent).rows

    return with_retry(attempt)


def write_in_session(
    spark: SparkSession,
    load: Callable[[], Table],
    frame: DataFrame,
    options: Mapping[str, str],
    *,
    intent: WriteIntent,
    overwrite: bool = False,
) -> int:
    """The same with options of the table for this write: those given, and those of the session, which may also give the
    identity of a write that has none. Raises OptionError, and what `write_frame` raises."""
    check_frame(frame, streams=False)
    loaded = [load()]  # for the first attempt
    given = {**of_write(session_options(spark), *loaded[0].identifier), **options}
    if intent.identity is None:
        intent = replace(intent, identity=identity_of(given))
    chosen = besides_identity(given)

    def again() -> Table:
        return (loaded.pop() if loaded else load()).with_options(chosen, "write")

    return write_frame(spark, again, frame, intent=intent, overwrite=overwrite)


def check_frame(rows: Any, *, streams: bool) -> None:
    """Refuse what is no DataFrame, or is a stream where none is wanted, or none where one is."""
    if not hasattr(type(rows), "isStreaming"):
        raise SchemaError(
            f"Rows must be a Spark DataFrame, and this is a {type(rows).__name__}.",
            hint="`store.spark.createDataFrame(...)` creates one; `store.table(...).write(...)` takes Arrow tables.",
        )
    found = rows.isStreaming  # a call of the JVM
    if streams and not found:
        raise SchemaError("This DataFrame is no stream.", hint="`store.write(...)` writes its rows.")
    if found and not streams:
        raise SchemaError("This DataFrame is a stream.", hint="`store.write_stream(...)` writes it batch by batch.")


def check_complete(frame: DataFrame, table: Table) -> None:
    """Refuse missing columns: they would be set to null in existing rows."""
    given = Names(frame.columns)
    missing = [f.name for f in table.schema.fields if f.name not in given and f.default_value is None]
    if missing and not table.schema.merge_engine.folds:
        raise SchemaError(
            f"The rows do not fit the table: no column {', '.join(missing)}.",
            hint=f"The table has: {', '.join(table.schema.field_names)}.",
        )
