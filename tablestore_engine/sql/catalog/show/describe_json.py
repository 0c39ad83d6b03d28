"""DESCRIBE … AS JSON: a table or view as one JSON text, with the keys that Spark gives its own tables.

Keys of ours are `primary_key` and `snapshot`, and `expression` of a computed column.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tablestore_engine.catalog import View
from tablestore_engine.errors import SqlError
from tablestore_engine.schema.table.computed_columns import ComputedColumn, all_columns, computed_columns
from tablestore_engine.schema.types.default_values import declared_default
from tablestore_engine.schema.types.sql_literals import quoted_name, spark_type
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType
from tablestore_engine.sql.catalog.execute_context import CatalogContext, answer
from tablestore_engine.sql.catalog.partition_spec import one_partition
from tablestore_engine.sql.catalog.show.shown_columns import computed_type
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.show import Describe
from tablestore_engine.sql.statements.statement import PartitionSpec
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS
from tablestore_engine.table import Table

Json = dict[str, Any]

_COLLATION = {"collation": "UTF8_BINARY"}


def describe_json(statement: Describe, context: CatalogContext) -> StatementResult:
    """DESCRIBE [TABLE] EXTENDED name [PARTITION (…)] AS JSON. Raises SqlError without EXTENDED, or with a column."""
    if statement.column is not None:
        raise SqlError("DESCRIBE of one column AS JSON is not supported.", hint="Leave the column or AS JSON out.")
    if not statement.extended:
        raise SqlError("DESCRIBE … AS JSON needs EXTENDED.", hint=f"DESCRIBE EXTENDED {statement.table} AS JSON.")
    database, name = context.identifier(statement.table)
    if context.kind(statement.table) == "view":
        if statement.partition:
            raise SqlError(f"{statement.table} is a view, so it has no partitions.")
        found = _view(database, name, context.catalog.load_view(database, name))
    else:
        found = _table(context.catalog.load_table(database, name), statement.partition)
    text = json.dumps(found | _COLLATION, ensure_ascii=False, separators=(",", ":"))
    return answer("DESCRIBE", {"json_metadata": "string"}, [(text,)])


def type_json(kind: DataType) -> Json:
    """A type as Spark's DESCRIBE … AS JSON shows it."""
    if isinstance(kind, ArrayType):
        return {"name": "array", "element_type": type_json(kind.element), "element_nullable": kind.element.nullable}
    if isinstance(kind, MapType):
        key, value = type_json(kind.key), type_json(kind.value)
        return {"name": "map", "key_type": key, "value_type": value, "value_nullable": kind.value.nullable}
    if isinstance(kind, RowType):
        return {"name": "struct", "fields": [_column(one) for one in kind.fields]}
    assert isinstance(kind, AtomicType)
    text = spark_type(kind)
    if kind.root == "DECIMAL":
        return {"name": "decimal", "precision": kind.precision, "scale": kind.scale}
    if kind.root in ("CHAR", "VARCHAR"):
        return {"name": kind.root.lower(), "length": kind.precision}
    if text == "string":
        return {"name": "string", **_COLLATION}
    return {"name": "timestamp_ltz" if text == "timestamp" else text}


def _column(field: DataField) -> Json:
    found: Json = {"name": field.name, "type": type_json(field.type), "nullable": field.type.nullable}
    return found | _given(comment=field.description, default=declared_default(field))


def _computed(column: ComputedColumn) -> Json:
    kind = {"name": computed_type(column)}
    return {"name": column.name, "type": kind, "nullable": True, "expression": column.sql} | _given(
        comment=column.comment
    )


def _given(**values: Any) -> Json:
    return {key: value for key, value in values.items() if value is not None}


def _names(database: str, name: str, columns: Sequence[Json]) -> Json:
    return {
        "table_name": name,
        "catalog_name": OWN_CATALOGS[-1],
        "namespace": [database],
        "schema_name": database,
        "columns": list(columns),
    }


def _view(database: str, name: str, view: View) -> Json:
    return {
        **_names(database, name, [_column(one) for one in view.columns]),
        "type": "VIEW",
        "view_text": view.sql,
        "view_catalog_and_namespace": f"{OWN_CATALOGS[-1]}.{quoted_name(view.database)}",
        "view_query_output_columns": list(view.query_columns or [one.name for one in view.columns]),
        **_given(comment=view.comment),
        **_properties(view.options),
    }


def _table(table: Table, partition: PartitionSpec) -> Json:
    schema, snapshot = table.schema, table.latest_snapshot()
    columns = all_columns([_column(one) for one in schema.fields], computed_columns(schema.options), _computed)
    described = _partition(table, partition) if partition else {"location": table.path, **_figures(table)}
    return {
        **_names(*table.identifier, columns),
        **described,
        "type": "MANAGED",
        "provider": "tablestore",
        "primary_key": list(schema.primary_keys),
        "partition_columns": list(schema.partition_keys),
        "num_buckets": table.options.bucket,
        "bucket_columns": list(schema.bucket_keys),
        **_given(comment=schema.comment, snapshot=snapshot.id if snapshot else None, created_time=_created(table)),
        **_properties(schema.options),
    }


def _properties(options: Mapping[str, str]) -> Json:
    return {"table_properties": dict(sorted(options.items()))} if options else {}


def _figures(table: Table) -> Json:
    found = table.statistics()
    return {"statistics": {"size_in_bytes": found.bytes, "num_rows": found.row_count, "num_files": found.files}}


def _partition(table: Table, spec: PartitionSpec) -> Json:
    path, values, entries = one_partition(table, spec)
    return {
        "partition_values": {name: None if one is None else str(one) for name, one in values.items()},
        "location": table.paths.partition_dir(path),
        "statistics": {
            "size_in_bytes": sum(one.file.file_size for one in entries),
            "num_rows": table.count_rows(entries).rows,
            "num_files": len(entries),
        },
    }


def _created(table: Table) -> str | None:
    millis = table.schemas.load(table.schemas.list_ids()[0]).time_millis
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(millis / 1000)) if millis else None
