"""System tables: a table's metadata as rows, `SELECT * FROM db.t$snapshots`."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import TableNotFound
from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.spark.compactions_table import COMPACTIONS, compactions
from tablestore_engine.table import Table

_Rows = list[tuple[Any, ...]]


def _time(millis: int | None) -> datetime | None:
    return None if millis is None else datetime.fromtimestamp(millis / 1000, timezone.utc)


def _snapshots(table: Table) -> _Rows:
    return [
        (
            s.id,
            s.schema_id,
            s.commit_user,
            s.commit_identifier,
            s.commit_kind,
            _time(s.time_millis),
            s.total_record_count,
            s.delta_record_count,
            json.dumps(dict(s.properties)) if s.properties else None,
        )
        for s in table.snapshots()
    ]


def _schemas(table: Table) -> _Rows:
    schemas = [table.schemas.load(i) for i in table.schemas.list_ids()]
    return [
        (
            s.id,
            json.dumps([f.to_json() for f in s.fields]),
            json.dumps(list(s.partition_keys)),
            json.dumps(list(s.primary_keys)),
            json.dumps(dict(s.options)),
            s.comment,
            _time(s.time_millis),
        )
        for s in schemas
    ]


def _options(table: Table) -> _Rows:
    return sorted(table.schema.options.items())


def _tags(table: Table) -> _Rows:
    return [
        (name, s.id, s.schema_id, _time(s.time_millis), s.total_record_count)
        for name, s in table.tags.all().items()
    ]


def _files(table: Table) -> _Rows:
    places = PartitionFormat(table.schema)
    return [
        (
            places.path_of(e.partition) or None,
            e.bucket,
            e.file.file_name,
            e.file.schema_id,
            e.file.level,
            e.file.row_count,
            e.file.file_size,
            e.file.delete_row_count,
            e.file.min_sequence_number,
            e.file.max_sequence_number,
            _time(e.file.creation_time_millis),
        )
        for e in table.live_files()
    ]


def _partitions(table: Table) -> _Rows:
    places = PartitionFormat(table.schema)
    found: dict[bytes, list[ManifestEntry]] = {}
    for entry in table.live_files():
        found.setdefault(entry.partition, []).append(entry)
    return [
        (places.path_of(row), table.count_rows(files).rows, sum(e.file.file_size for e in files), len(files))
        for row, files in sorted(found.items())
    ]


SYSTEM_TABLES: dict[str, tuple[str, Callable[[Table], _Rows]]] = {
    "snapshots": (
        (
            "snapshot_id bigint, schema_id bigint, commit_user string, commit_identifier bigint, commit_kind string, "
            "commit_time timestamp, total_record_count bigint, delta_record_count bigint, properties string"
        ),
        _snapshots,
    ),
    "schemas": (
        (
            "schema_id bigint, fields string, partition_keys string, primary_keys string, options string, "
            "comment string, update_time timestamp"
        ),
        _schemas,
    ),
    "tags": (
        "tag_name string, snapshot_id bigint, schema_id bigint, commit_time timestamp, record_count bigint",
        _tags,
    ),
    "options": ("key string, value string", _options),
    "files": (
        (
            "partition string, bucket int, file_name string, schema_id bigint, level int, record_count bigint, "
            "file_size_in_bytes bigint, delete_record_count bigint, min_sequence_number bigint, "
            "max_sequence_number bigint, creation_time timestamp"
        ),
        _files,
    ),
    "partitions": (
        "partition string, record_count bigint, file_size_in_bytes bigint, file_count bigint",
        _partitions,
    ),
    "compactions": (COMPACTIONS, compactions),
}


def system_table(spark: SparkSession, table: Table, name: str) -> DataFrame:
    """The rows of `table$name`. Raises TableNotFound, which says which there are."""
    if name not in SYSTEM_TABLES:
        raise TableNotFound(
            f"'{table.name}${name}' does not exist.", hint=f"System tables are: {', '.join(SYSTEM_TABLES)}."
        )
    schema, rows = SYSTEM_TABLES[name]
    return spark.createDataFrame(rows(table), schema)
