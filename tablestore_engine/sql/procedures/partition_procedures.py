"""Procedures on partitions: drop them, or let the old ones expire."""

from __future__ import annotations

from typing import Any

from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.partition import PartitionFormat, value_from_text
from tablestore_engine.operation.expiration.partition_expire import (
    STRATEGIES,
    PartitionRetention,
)
from tablestore_engine.operation.history.partition_done import mark_done
from tablestore_engine.operation.scan.partition_filter import PartitionValuesFilter
from tablestore_engine.operation.table_commands.metadata_commands import drop_partitions, expire_partitions
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.sql.catalog.partition_spec import chosen_partitions, partition_field, refuse_repeated
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, count, duration, text
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def listed_partitions(schema: TableSchema, listed: str) -> PartitionValuesFilter:
    """Chooses the partitions of a list; see `_specs`."""
    return chosen_partitions(schema, _specs(listed, schema))


def _specs(listed: str, schema: TableSchema) -> list[dict[str, Any]]:
    """`dt=2024-01-01,hr=1;dt=2024-01-02`: partitions by `;`, columns by `,`, each of them once. Raises ColumnNotFound,
    SchemaError, SqlError."""
    return [_spec(part, schema) for part in listed.split(";")]


def _spec(part: str, schema: TableSchema) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in part.split(","):
        column, equals, value = (one.strip() for one in pair.partition("="))
        if not equals:
            raise SqlError(f"'{part}' is not a partition.", hint="Write dt=2024-01-01,hr=1;dt=2024-01-02.")
        field = partition_field(column, schema)
        refuse_repeated(field.name, found)
        try:
            found[field.name] = None if value.upper() == "NULL" else value_from_text(value.strip("'\""), field.type)
        except ValueError as error:
            raise SqlError(f"{value} is not a value of partition column '{field.name}': {error}.") from error
    return found


def _drop(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes partitions with their rows: 'dt=2024-01-01,hr=1;dt=2024-01-02'. Missing ones are
    ignored."""
    schema, partition_format = table.schema, PartitionFormat(table.schema)
    wanted = _specs(str(arguments["partitions"]), schema)
    by_index = [{schema.partition_keys.index(name): value for name, value in one.items()} for one in wanted]
    live = {e.partition for e in table.live_files()}
    drop_partitions(table.state, {row for row in live if any(partition_format.covers(one, row) for one in by_index)})
    return [(True,)]


def _expire(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes partitions that are older than `expiration_time`, such as '30 d', and returns their names.

    The age of a partition is that of its values (`expire_strategy` => 'values-time', the default) or of its last change
    ('update-time'). `timestamp_pattern` defines the columns of the time, such as '$dt $hr:00:00'; `timestamp_formatter`
    its format, such as 'yyyyMMdd'. Defaults are the table's options `partition.*`. A partition without a time is kept.
    """
    options = table.options
    expiration = duration("expiration_time", arguments)
    if expiration is None:
        expiration = options.partition_expiration_time_millis
    if expiration is None:
        raise SqlError("sys.expire_partitions needs expiration_time.", hint=PROCEDURES["expire_partitions"].example)
    strategy = text("expire_strategy", arguments) or options.partition_expiration_strategy
    if strategy not in STRATEGIES:
        raise SqlError(f"expire_strategy is one of {', '.join(STRATEGIES)}, not '{strategy}'.")
    retention = PartitionRetention(
        expiration,
        strategy,
        text("timestamp_pattern", arguments) or options.partition_timestamp_pattern,
        text("timestamp_formatter", arguments) or options.partition_timestamp_formatter,
        count("max_expires", arguments, options.partition_expiration_max_num),
    )
    removed = with_retry(lambda: expire_partitions(table.state, retention, context.now_millis(), strict=True))
    return [(path,) for path in removed]


def _mark_done(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Marks partitions as complete for other programs, as the option `partition.mark-done-action` says: by a file
    `_SUCCESS` in their folders, or a folder `<partition>.done`.

    A second call keeps the time of creation in the file, and changes that of modification. Partitions without rows are
    ignored.
    """
    chosen = listed_partitions(table.schema, str(arguments["partitions"]))
    partition_format = PartitionFormat(table.schema)
    live = {e.partition for e in table.live_files()}
    mark_done(table.state, (row for row in live if chosen(partition_format.decode(row))), context.now_millis())
    return [(True,)]


PROCEDURES: dict[str, Procedure] = {
    "mark_partition_done": Procedure(
        _mark_done,
        ("table", "partitions"),
        2,
        {"result": "boolean"},
        "CALL sys.mark_partition_done(table => 'db.t', partitions => 'dt=2024-01-01;dt=2024-01-02').",
    ),
    "drop_partition": Procedure(
        _drop,
        ("table", "partitions"),
        2,
        {"result": "boolean"},
        "CALL sys.drop_partition(table => 'db.t', partitions => 'dt=2024-01-01').",
    ),
    "expire_partitions": Procedure(
        _expire,
        (
            "table",
            "expiration_time",
            "timestamp_formatter",
            "timestamp_pattern",
            "expire_strategy",
            "max_expires",
        ),
        1,
        {"expired_partitions": "string"},
        "CALL sys.expire_partitions(table => 'db.t', expiration_time => '30 d', timestamp_formatter => 'yyyy-MM-dd').",
    ),
}
