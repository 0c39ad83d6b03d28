"""Executing INSERT, INSERT OVERWRITE and TRUNCATE, and the partitions that the last two replace.

The *values* of a PARTITION clause are Python values by partition column. Those of INSERT OVERWRITE may be any constant
expression, and are also written into the rows. Unless the meaning of a text is certain, Spark evaluates it, because
both must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import (
    SqlError,
)
from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.scan.stats_may_match import key_value
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.options import CommitOptions
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.dml.insert_overwrite import (
    insert,
    overwrite,
    truncate,
)
from tablestore_engine.spark.expressions.char_text import filled_sql
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.queries.collect import collect_arrow
from tablestore_engine.spark.session.session_settings import session_resolver
from tablestore_engine.spark.write.align_columns import align, given_value_sql
from tablestore_engine.sql.catalog.partition_spec import clause_values, partition_field, refuse_repeated
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.row import InsertInto, Insertion, InsertOverwrite
from tablestore_engine.sql.statements.statement import PartitionSpec
from tablestore_engine.sql.statements.table import Truncate
from tablestore_engine.sql.tokens.constants import constant_at
from tablestore_engine.sql.tokens.default_clause import is_default, with_default_values
from tablestore_engine.sql.tokens.lexer import tokenize
from tablestore_engine.sql.write_statements.merge_schema import evolves, incoming_columns, merged
from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def execute_insert(statement: InsertInto, context: RowContext) -> StatementResult:
    """INSERT INTO: append rows, or upsert them by key.

    It conflicts only if the table was replaced or rescaled meanwhile; then it runs again.
    """
    return with_retry(lambda: _insert(statement, context))


def _insert(statement: InsertInto, context: RowContext) -> StatementResult:
    table, frames, aligned = rows_of_insert(statement, context)
    outcome = insert(frames.spark, table, frames.rows(aligned), context.intent)
    return result_of("UPSERT" if table.schema.primary_keys else "INSERT", outcome)


def rows_of_insert(statement: Insertion, context: RowContext) -> tuple[Table, Frames, DataFrame]:
    """The table, with the columns that the write adds, and the rows for it, of which the frames keep the views."""
    table = context.table(statement.table)
    frames = context.frames()
    frame = frames.query(query_of(statement, table.schema))
    table = with_new_columns(table, statement, frame)
    return table, frames, aligned_rows(statement, frame, table, frames)


def with_new_columns(table: Table, statement: Insertion, frame: DataFrame) -> Table:
    """The table with the columns of the rows, if it takes new ones."""
    if not table.options.write_merge_schema:
        return table
    static = {partition_field(v.column, table.schema).name for v in statement.partition if v.value_sql is not None}
    names = () if statement.by_name else statement.columns or [n for n in table.schema.field_names if n not in static]
    return merged(table, incoming_columns(frame, table.schema, names), frame.sparkSession)


def query_of(statement: Insertion, schema: TableSchema) -> str:
    """The query of an INSERT, with what DEFAULT means in its VALUES or SELECT."""
    static = {partition_field(v.column, schema).name for v in statement.partition if v.value_sql is not None}
    names = statement.columns or [n for n in schema.field_names if n not in static]
    return with_default_values(
        statement.query_sql, names, lambda name: default_sql(schema.field(name)) if schema.has_field(name) else "NULL"
    )


def aligned_rows(statement: Insertion, frame: DataFrame, table: Table, frames: Frames) -> DataFrame:
    """The rows of an INSERT with exactly the table's columns.

    Raises:
        SchemaError: the columns do not fit.
    """
    static = _static_columns(statement.partition, table.schema, frames)
    by_name = statement.by_name
    return align(frame, table.schema, statement.columns, static, by_name=by_name, fills=evolves(table))


def execute_overwrite(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    """INSERT OVERWRITE: replace the table, the named partitions, or those of the rows; run again like INSERT INTO."""
    return with_retry(lambda: _overwrite(statement, context))


def _overwrite(statement: InsertOverwrite, context: RowContext) -> StatementResult:
    table, frames, aligned = rows_of_insert(statement, context)
    replaces = replaced_files(statement, table.schema, frames)
    if statement.if_not_exists and _is_there(statement, table, replaces):
        return StatementResult("OVERWRITE", 0)
    outcome = overwrite(frames.spark, table, frames.rows(aligned), replaces, context.intent)
    return result_of("OVERWRITE", outcome)


def replaced_files(statement: InsertOverwrite, schema: TableSchema, frames: Frames) -> Choice | None:
    """Chooses the files that the rows replace; None for those of the partitions that the rows are in."""
    if by_rows(statement, schema, frames.spark):
        return None
    return files_of(written_values(statement.partition, schema, frames), schema)


def by_rows(statement: InsertOverwrite, schema: TableSchema, spark: SparkSession) -> bool:
    """Whether the partitions of the rows are replaced, and not all that the PARTITION clause names."""
    static = {partition_field(v.column, schema).name for v in statement.partition if v.value_sql is not None}
    if not set(schema.partition_keys) - static:
        return False
    if CommitOptions.dynamic_partition_overwrite.key in schema.options:
        return schema.core_options.dynamic_partition_overwrite
    # Only a mode that somebody set: Spark's own default is static.
    mode = spark.conf.get(OVERWRITE_MODE, None)
    return mode.lower() == "dynamic" if mode else schema.core_options.dynamic_partition_overwrite


def _is_there(statement: InsertOverwrite, table: Table, replaces: Callable[[ManifestEntry], bool] | None) -> bool:
    """Whether the partition of IF NOT EXISTS has files."""
    missing = set(table.schema.partition_keys) - {
        partition_field(v.column, table.schema).name for v in statement.partition
    }
    if replaces is None or missing or not statement.partition:
        raise SqlError("IF NOT EXISTS needs a PARTITION clause with a value for every partition column.")
    return any(replaces(entry) for entry in table.live_files())


def execute_truncate(statement: Truncate, context: RowContext) -> StatementResult:
    """TRUNCATE TABLE [PARTITION]: a metadata change."""
    table = context.table(statement.table)
    wanted = clause_values(table.schema, statement.partition, context.resolver)
    chosen = files_of(wanted, table.schema)
    return result_of("TRUNCATE TABLE", truncate(context.spark, table, chosen, context.intent))


def _static_columns(spec: PartitionSpec, schema: TableSchema, frames: Frames) -> dict[str, str]:
    """SQL of the values that a PARTITION clause gives, by the name of the column."""
    columns: dict[str, str] = {}
    named: set[str] = set()
    for entry in spec:
        field = partition_field(entry.column, schema)
        session_resolver(frames.spark).check_spelling(entry.column, field.name)
        refuse_repeated(field.name, named)
        named.add(field.name)
        if entry.value_sql is not None:
            columns[field.name] = frames.expression(_value_sql(entry.value_sql, field), {})
    return columns


# -- partitions ---------------------------------------------------------------------------------------

Choice = Callable[[ManifestEntry], bool]


def files_of(values: Mapping[str, Any], schema: TableSchema) -> Choice:
    """Chooses the files of partitions with these values; all files without values."""
    if not values:
        return lambda entry: True
    partition_format = PartitionFormat(schema)
    wanted = [(schema.partition_keys.index(name), value) for name, value in values.items()]
    kinds = [[partition_format.types[i]] for i, _ in wanted]
    # Bytes distinguish values that == does not, and equal NaNs have equal bytes.
    rows = [encode_row([value], kind) for (_, value), kind in zip(wanted, kinds, strict=True)]

    def chosen(entry: ManifestEntry) -> bool:
        if not partition_format.is_current(entry.partition):
            return partition_format.covers(dict(wanted), entry.partition)
        found = partition_format.decode(entry.partition)
        return all(encode_row([found[i]], kind) == row for (i, _), kind, row in zip(wanted, kinds, rows, strict=True))

    return chosen


def written_values(spec: PartitionSpec, schema: TableSchema, frames: Frames) -> dict[str, Any]:
    """The static values of a PARTITION clause, as they are written into the rows.

    Raises:
        SchemaError: a column that is no partition column.
        SqlError, ExecutionError: Spark cannot evaluate an expression, or it does not fit the column.
    """
    found: dict[str, Any] = {}
    unsure: list[tuple[DataField, str]] = []
    for entry in spec:
        field = partition_field(entry.column, schema)
        if entry.value_sql is None:
            continue
        sql = _value_sql(entry.value_sql, field)
        found[field.name] = value = _certain(sql, field)
        if value is None:
            unsure.append((field, sql))
    if unsure:
        items = [
            f"{given_value_sql(filled_sql(frames.expression(text, {}), field), field, frames.spark)} AS v{i}"
            for i, (field, text) in enumerate(unsure)
        ]
        row = collect_arrow(frames.run(f"SELECT {', '.join(items)}")).to_pylist()[0]
        found.update((field.name, row[f"v{i}"]) for i, (field, _) in enumerate(unsure))
    return found


def _value_sql(sql: str, field: DataField) -> str:
    """The value of a PARTITION clause, where DEFAULT is that of the column."""
    return default_sql(field) if is_default(sql) else sql


def _certain(text: str, field: DataField) -> Any:
    """The value that a text certainly means in a column, None for any other."""
    tokens = tokenize(text)
    constant = constant_at(tokens, 0)
    if constant is None or constant[1] != len(tokens) - 1:
        return None
    value = key_value(constant[0], field.type)
    longest = getattr(field.type, "precision", None)
    # Of a longer text, blanks at the end may be cut.
    return None if isinstance(value, str) and longest is not None and len(value) > longest else value
