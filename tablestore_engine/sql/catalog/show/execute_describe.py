"""DESCRIBE of tables, views, columns and partitions, with Spark's result columns.

A *section* is a row `# Title` and the rows below it; an empty row precedes each section.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tablestore_engine.catalog import View
from tablestore_engine.errors import ColumnNotFound, SqlError, did_you_mean
from tablestore_engine.metadata.analyze_statistics import value_shown
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.options import LogOptions
from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.types.names import Names
from tablestore_engine.sql.catalog.execute_context import CatalogContext, answer, utc
from tablestore_engine.sql.catalog.partition_spec import one_partition
from tablestore_engine.sql.catalog.show.describe_json import describe_json
from tablestore_engine.sql.catalog.show.shown_columns import ShownColumn, columns_of, shown_columns, shown_fields
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.show import Describe, ShowTablePartition
from tablestore_engine.sql.statements.statement import PartitionSpec
from tablestore_engine.table import Table

Row = tuple[str, str, "str | None"]

_LOG_OPTIONS = (
    LogOptions.log_system,
    LogOptions.log_kafka_bootstrap_servers,
    LogOptions.log_retention,
    LogOptions.log_kafka_topic,
)
_COLUMNS = {"col_name": "string", "data_type": "string", "comment": "string"}


def describe(statement: Describe, context: CatalogContext) -> StatementResult:
    """DESCRIBE [TABLE] [EXTENDED] name [PARTITION (…)] [column]."""
    if statement.as_json:
        return describe_json(statement, context)
    if statement.column is not None:
        _refuse_foreign(statement, statement.column, context)
        return _column(statement, statement.column, context)
    if context.kind(statement.table) == "view":
        view = context.catalog.load_view(*context.identifier(statement.table))
        if statement.partition:
            raise SqlError(f"{statement.table} is a view, so it has no partitions.")
        rows = [_row(one) for one in shown_fields(view.columns)]
        if statement.extended:
            rows += _section("Detailed Table Information", _view_details(statement, view, context))
        return answer("DESCRIBE", _COLUMNS, rows)
    table = context.catalog.load_table(*context.identifier(statement.table))
    columns = shown_columns(table.schema)
    rows = [_row(one) for one in columns]
    if table.schema.partition_keys:
        rows += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
        rows += [_row(one) for one in shown_fields(table.schema.partition_fields)]
    defaults = [(one.name, one.type_text, one.default) for one in columns if one.default is not None]
    if defaults:
        rows += [*_section("Column Default Values", ()), *defaults]
    details = _partition_details(table, statement.partition) if statement.partition else []
    if statement.extended:
        if details:
            rows += _section("Detailed Partition Information", details)
        checks = [(one.name, f"CHECK ({one.sql})") for one in check_constraints(table.schema.options)]
        rows += _section("Constraints", checks) if checks else []
        rows += _section("Detailed Table Information", _table_details(table))
    return answer("DESCRIBE", _COLUMNS, rows)


def show_partition(statement: ShowTablePartition, context: CatalogContext) -> StatementResult:
    """SHOW TABLE EXTENDED LIKE 'table' PARTITION (…)."""
    table = context.table(statement.table, "SHOW TABLE EXTENDED … PARTITION")
    text = "".join(f"{label}: {value}\n" for label, value in _partition_details(table, statement.partition))
    columns = {"namespace": "string", "tableName": "string", "isTemporary": "boolean", "information": "string"}
    return answer("SHOW TABLE EXTENDED", columns, [(*table.identifier, False, text)])


def _refuse_foreign(statement: Describe, name: str, context: CatalogContext) -> None:
    """Raise a SqlError for DESCRIBE HISTORY t and DESCRIBE DETAIL t, which read as a column of a table."""
    word, identifier = statement.table.name.upper(), context.identifier(statement.table)
    hints = {
        "HISTORY": f"Use SELECT * FROM {name}$snapshots.",
        "DETAIL": f"Use DESCRIBE TABLE EXTENDED {name}.",
    }
    if statement.table.database is None and word in hints and context.catalog.object_kind(*identifier) is None:
        raise SqlError(f"DESCRIBE {word} is not supported.", hint=hints[word])


def _row(column: ShownColumn) -> Row:
    return column.name, column.type_text, column.description


def _section(title: str, details: Iterable[tuple[str, str]]) -> list[Row]:
    return [("", "", ""), (f"# {title}", "", ""), *((label, value, "") for label, value in details)]


def _column(statement: Describe, column: str, context: CatalogContext) -> StatementResult:
    columns = columns_of(context.catalog, *context.identifier(statement.table), context.kind(statement.table))
    names = Names(one.name for one in columns)
    at = names.position(column)
    if at is None:
        hint = did_you_mean(column, [*names])
        raise ColumnNotFound(f"{statement.table} has no column '{column}'.", hint=hint)
    found = columns[at]
    rows = [
        ("col_name", found.name),
        ("data_type", found.type_text),
        ("comment", "NULL" if found.comment is None else found.comment),
    ]
    if found.default is not None:
        rows.append(("default", found.default))
    if found.computed_sql is not None:
        rows.append(("expression", found.computed_sql))
    if statement.extended:
        rows.append(("nullable", "true" if found.nullable else "false"))
        rows += _column_statistics(statement, found.name, context)
    return answer("DESCRIBE", {"info_name": "string", "info_value": "string"}, rows)


def _column_statistics(statement: Describe, name: str, context: CatalogContext) -> list[tuple[str, str]]:
    """The statistics of ANALYZE TABLE for a column, by Spark's names; none of before it had another type."""
    if context.kind(statement.table) == "view":
        return []
    table = context.catalog.load_table(*context.identifier(statement.table))
    analyzed = table.statistics_of(table.latest_snapshot())
    if analyzed is None or not table.schema.has_field(name):
        return []
    field = table.schema.field(name)
    was = next((f for f in table.schemas.load(analyzed.schema_id).fields if f.id == field.id), None)
    found = (
        analyzed.columns.get(was.name) if was and was.type.as_nullable(True) == field.type.as_nullable(True) else None
    )
    if found is None:
        return []
    known = {
        "min": value_shown(found.least, field.type),
        "max": value_shown(found.greatest, field.type),
        "num_nulls": found.null_count,
        "distinct_count": found.distinct_count,
        "avg_col_len": found.average_length,
        "max_col_len": found.greatest_length,
    }
    return [(label, "NULL" if value is None else str(value)) for label, value in known.items()]


def _view_details(statement: Describe, view: View, context: CatalogContext) -> list[tuple[str, str]]:
    database, name = context.identifier(statement.table)
    details = [
        ("Name", f"{database.lower()}.{name.lower()}"),
        ("Type", "VIEW"),
        ("View Text", view.sql),
        ("View Catalog and Namespace", view.database),
        ("View Schema Mode", view.mode),
    ]
    if view.comment is not None:
        details.append(("Comment", view.comment))
    if view.options:
        details.append(("Table Properties", _pairs(view.options.items())))
    return details


def _table_details(table: Table) -> list[tuple[str, str]]:
    schema, options = table.schema, table.options
    found, snapshot = table.statistics(), table.latest_snapshot()
    details = [
        ("Name", table.name),
        ("name", f"tablestore.{table.name}"),
        ("Type", "MANAGED"),
        ("Provider", "tablestore"),
        ("Location", table.path),
        ("file.path", table.path),
        ("Primary Key", ", ".join(schema.primary_keys)),
        ("Partition Columns", ", ".join(schema.partition_keys)),
        ("bucket", str(options.bucket)),
        *([("bucket-key", ", ".join(schema.bucket_keys))] if options.bucket > 0 and schema.bucket_keys else []),
        ("file.format", options.file_format),
        ("change-tracking", str(options.change_tracking).lower()),
        *(
            (one.key, next((schema.options[key] for key in one.keys if key in schema.options), "none"))
            for one in _LOG_OPTIONS
        ),
        (
            "Snapshot",
            f"{snapshot.id} ({snapshot.commit_kind} at {utc(snapshot.time_millis)})" if snapshot else "none",
        ),
        ("Schema Version", str(schema.id)),
        ("Row Count", found.row_count_text),
        ("Size", f"{found.bytes} bytes"),
        ("num-files", str(found.files)),
        ("Table Properties", _pairs(schema.options.items())),
    ]
    analyzed = table.statistics_of(snapshot)
    if analyzed is not None:
        rows = "unknown" if analyzed.row_count is None else str(analyzed.row_count)
        text = f"{analyzed.row_size or 0} bytes, {rows} rows (of snapshot {analyzed.snapshot_id})"
        details.append(("Statistics", text))
    if schema.comment is not None:
        details.append(("Comment", schema.comment))
    created = table.schemas.load(table.schemas.list_ids()[0]).time_millis
    details.append(("Created Time", utc(created) if created else "unknown"))
    return details


def _partition_details(table: Table, spec: PartitionSpec) -> list[tuple[str, str]]:
    """The rows of a partition; also checks that it exists."""
    path, _, entries = one_partition(table, spec)
    files, counted = [one.file for one in entries], table.count_rows(entries)
    return [
        ("Partition", path),
        ("partition", path),
        ("Location", table.paths.partition_dir(path)),
        ("file.path", table.paths.partition_dir(path)),
        *([("Buckets", _bucket_text(entries))] if table.schema.bucket_keys else []),
        ("Row Count", counted.text),
        ("Size", f"{sum(one.file_size for one in files)} bytes"),
        ("num-files", str(len(files))),
    ]


def _bucket_text(entries: Sequence[ManifestEntry]) -> str:
    """The number of buckets of a partition."""
    number = entries[0].total_buckets
    return str(number) if number > 0 else f"{len({one.bucket for one in entries})} (dynamic)"


def _pairs(items: Iterable[tuple[str, str]]) -> str:
    return f"[{','.join(f'{key}={value}' for key, value in sorted(items))}]"
