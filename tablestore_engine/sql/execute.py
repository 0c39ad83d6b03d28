"""Executing the statements that need Spark: each kind goes to its function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablestore_engine.catalog import View
from tablestore_engine.errors import SqlError, TableAlreadyExists, ViewNotFound
from tablestore_engine.operation.scan import PartitionFilter
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.schema.types import DataField
from tablestore_engine.spark.compactor import compact_table
from tablestore_engine.spark.run import translated
from tablestore_engine.spark.types import columns_of
from tablestore_engine.sql import statements as S
from tablestore_engine.sql.execute_changes import execute_delete, execute_merge, execute_update
from tablestore_engine.sql.execute_rows import (
    RowContext,
    execute_create_as,
    execute_insert,
    execute_overwrite,
    execute_truncate,
    partition_values,
)
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.table import Table


def execute(statement: S.Statement, context: RowContext) -> StatementResult:
    """Run a statement. Raises SqlError for one that managed tables do not have."""
    runner = _RUNNERS.get(type(statement))
    if runner is None:
        raise SqlError(f"{type(statement).__name__} is not supported on managed tables.")
    return runner(statement, context)


def _query(statement: S.Query, context: RowContext) -> StatementResult:
    return StatementResult("SELECT", dataframe=context.frames().query(statement.query_sql))


def _query_inside(statement: S.QueryInside, context: RowContext) -> StatementResult:
    frames = context.frames()
    text = statement.prefix + frames.bound(statement.query_sql) + statement.suffix
    return StatementResult(statement.kind, dataframe=frames.run(text))


def _explain(statement: S.Explain, context: RowContext) -> StatementResult:
    inner = statement.statement
    query = getattr(inner, "query_sql", None)
    if query is None:
        raise SqlError(f"EXPLAIN of {type(inner).__name__} is not supported.", hint="EXPLAIN its query.")
    mode = f"{statement.mode} " if statement.mode else ""
    frames = context.frames()
    return StatementResult("EXPLAIN", dataframe=frames.run(f"EXPLAIN {mode}{frames.bound(query)}"))


def _pass_through(statement: S.PassThrough, context: RowContext) -> StatementResult:
    with translated():
        frame = context.spark().sql(statement.sql)
    return StatementResult("OK", dataframe=frame if frame.columns else None)


def _compact(statement: S.Compact, context: RowContext) -> StatementResult:
    table = context.table(statement.table)
    chosen = _partition_filter(table.schema, partition_values(statement.partition, table.schema))
    compact_table(context.spark, table, chosen)
    return StatementResult("COMPACT")


def _partition_filter(schema: TableSchema, wanted: dict[str, Any]) -> PartitionFilter | None:
    if not wanted:
        return None
    positions = {schema.partition_keys.index(name): value for name, value in wanted.items()}
    return lambda values: all(values[i] == value for i, value in positions.items())


def _call(statement: S.Call, context: RowContext) -> StatementResult:
    if statement.procedure != "compact":
        raise SqlError(
            f"There is no procedure sys.{statement.procedure}.", hint="There is: sys.compact(table => 't')."
        )
    known = ("table", "partitions")
    arguments = dict(zip(known, statement.positional, strict=False)) | dict(statement.named)
    unknown = set(arguments) - set(known)
    if unknown or not arguments.get("table"):
        raise SqlError(
            f"sys.compact does not take {', '.join(sorted(unknown))}."
            if unknown
            else "sys.compact needs a table.",
            hint="CALL sys.compact(table => 'db.t', partitions => 'dt=2024-01-01').",
        )
    table = _named_table(str(arguments["table"]), context)
    partitions = str(arguments.get("partitions") or "")
    chosen = _partition_list(table.schema, partitions) if partitions else None
    snapshot = compact_table(context.spark, table, chosen)
    return StatementResult("CALL", columns=("compacted",), types=("boolean",), rows=[(snapshot is not None,)])


def _named_table(name: str, context: RowContext) -> Table:
    database, _, table = name.replace("`", "").rpartition(".")
    return context.table(S.TableName(database or None, table))


def _partition_list(schema: TableSchema, text: str) -> PartitionFilter:
    """`dt=2024-01-01,hr=1;dt=2024-01-02`: partitions by `;`, columns by `,`."""
    choices = []
    for part in text.split(";"):
        spec = []
        for pair in part.split(","):
            column, equals, value = pair.partition("=")
            if not equals:
                raise SqlError(
                    f"'{part}' is not a partition.", hint="Write partitions as 'dt=2024-01-01,hr=1'."
                )
            spec.append(S.PartitionValue(column.strip(), value.strip()))
        chosen = _partition_filter(schema, partition_values(tuple(spec), schema))
        if chosen is not None:
            choices.append(chosen)
    return lambda values: any(choice(values) for choice in choices)


def _create_view(statement: S.CreateView, context: RowContext) -> StatementResult:
    frames = context.frames()
    if statement.temporary:
        frames.run(statement.prefix + frames.bound(statement.query_sql))
        return StatementResult("CREATE VIEW")
    catalog = context.catalog
    database, name = context.place(statement.view)
    exists = catalog.view_exists(database, name)
    if statement.must_exist and not exists:
        raise ViewNotFound(f"View '{database}.{name}' does not exist.")
    if exists and statement.if_not_exists:
        return StatementResult("CREATE VIEW")
    if catalog.table_exists(database, name):
        raise TableAlreadyExists(f"'{database}.{name}' is a table, so it cannot become a view.")
    frame = frames.query(statement.query_sql)
    columns = columns_of(frame.schema)
    if statement.columns and len(statement.columns) != len(columns):
        raise SqlError(f"The view names {len(statement.columns)} columns, its query returns {len(columns)}.")
    named = statement.columns or tuple((n, c) for n, _, c in columns)
    fields = tuple(
        DataField(i, n, kind, comment)
        for i, ((n, comment), (_, kind, _)) in enumerate(zip(named, columns, strict=True))
    )
    view = View(statement.query_sql, context.database, fields, statement.comment, statement.options)
    catalog.create_view(database, name, view, statement.replace or statement.must_exist)
    return StatementResult("CREATE VIEW")


_RUNNERS: dict[type[S.Statement], Callable[[Any, RowContext], StatementResult]] = {
    S.Query: _query,
    S.QueryInside: _query_inside,
    S.Explain: _explain,
    S.PassThrough: _pass_through,
    S.Compact: _compact,
    S.Call: _call,
    S.CreateView: _create_view,
    S.CreateTableAs: execute_create_as,
    S.InsertInto: execute_insert,
    S.InsertOverwrite: execute_overwrite,
    S.Truncate: execute_truncate,
    S.Delete: execute_delete,
    S.Update: execute_update,
    S.Merge: execute_merge,
}
