"""System tables: a table's metadata as rows, `SELECT * FROM db.t$snapshots`. Columns are Paimon's, in its order, and
then our own.

Three kinds: those of the whole table, those of one snapshot, which may be an earlier one (`t$files VERSION AS OF 3`),
and those whose rows are data, which Spark reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from tablestore_engine.errors import CorruptMetadataError, SqlError, TableNotFound
from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta, SimpleStats
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.tag_lifetime import duration_text
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.operation.scan.file_skipping import FileBounds
from tablestore_engine.operation.scan.stats_may_match import Bounds
from tablestore_engine.schema.types.sql_literals import spark_type
from tablestore_engine.storage.metadata_files.consumer_store import consumers
from tablestore_engine.system.column_tables import AGGREGATION_FIELDS, TABLE_INDEXES, aggregation_fields, table_indexes
from tablestore_engine.system.compactions_table import COMPACTIONS, compactions
from tablestore_engine.table import Table

_Rows = list[tuple[Any, ...]]
_SOURCES = ("APPEND", "COMPACT")
_UNKNOWN = (None,) * 4  # columns of `$partitions` that only a catalog service fills


def split_name(name: str) -> tuple[str, str]:
    """The name of a table and, in lower case, that of its system table; an empty one for the table itself."""
    base, dollar, suffix = name.partition("$")
    return (base, suffix.lower()) if dollar and base and suffix else (name, "")


def _time(millis: int | None) -> datetime | None:
    return None if millis is None else datetime.fromtimestamp(millis / 1000, timezone.utc)


# -- of the whole table --------------------------------------------------------------------------------


def _snapshots(table: Table) -> _Rows:
    """The snapshots that can be read, oldest first."""
    return [
        (
            s.id,
            s.schema_id,
            s.commit_user,
            s.commit_identifier,
            s.commit_kind,
            _time(s.time_millis),
            s.base_manifest_list,
            s.delta_manifest_list,
            s.changelog_manifest_list,
            s.total_record_count,
            s.delta_record_count,
            s.changelog_record_count,
            s.watermark,
            s.next_row_id,
            json.dumps(dict(s.properties)) if s.properties else None,
        )
        for s in table.snapshots()
    ]


def _schemas(table: Table) -> _Rows:
    """The versions of the schema. Columns, keys and options are JSON."""
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
    """The options that were set."""
    return sorted(table.schema.options.items())


def _tags(table: Table) -> _Rows:
    """The tags; those with a retention time also show when they were created and how long they are kept."""
    return [
        (
            one.name,
            one.snapshot.id,
            one.snapshot.schema_id,
            _time(one.snapshot.time_millis),
            one.snapshot.total_record_count,
            _time(one.lifetime.created_millis) if one.lifetime else None,
            duration_text(one.lifetime.retained_millis) if one.lifetime else None,
        )
        for one in table.tags.stored()
    ]


def _consumers(table: Table) -> _Rows:
    """The consumers, and the snapshot that each wants next."""
    return sorted(consumers(table.io, table.paths).items())


SYSTEM_TABLES: dict[str, tuple[str, Callable[[Table], _Rows]]] = {
    "snapshots": (
        (
            "snapshot_id bigint, schema_id bigint, commit_user string, commit_identifier bigint, commit_kind string, "
            "commit_time timestamp, base_manifest_list string, delta_manifest_list string, "
            "changelog_manifest_list string, total_record_count bigint, delta_record_count bigint, "
            "changelog_record_count bigint, watermark bigint, next_row_id bigint, properties string"
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
        (
            "tag_name string, snapshot_id bigint, schema_id bigint, commit_time timestamp, record_count bigint, "
            "create_time timestamp, time_retained string"
        ),
        _tags,
    ),
    "options": ("key string, value string", _options),
    "consumers": ("consumer_id string, next_snapshot_id bigint", _consumers),
    "compactions": (COMPACTIONS, compactions),
    "aggregation_fields": (AGGREGATION_FIELDS, aggregation_fields),
}
"""Those of the whole table: columns as Spark declares them, and the rows."""


# -- of one snapshot -----------------------------------------------------------------------------------


def _files(table: Table, snapshot: Snapshot | None) -> _Rows:
    """The data files."""
    if snapshot is None:
        return []
    partition_format, paths = PartitionFormat(table.schema), EntryPaths(table.paths, table.schema)
    types = [f.type for f in table.schema.trimmed_key_fields]

    def row(e: ManifestEntry) -> tuple[Any, ...]:
        file = e.file
        low, high = (_key(key, types) if types else None for key in (file.min_key, file.max_key))
        return (
            partition_format.braced(e.partition),
            e.bucket,
            paths.data_file(e),
            file.format,
            file.schema_id,
            file.level,
            file.row_count,
            file.file_size,
            low,
            high,
            *_column_stats(table, file),
            file.min_sequence_number,
            file.max_sequence_number,
            _time(file.creation_time_millis),
            file.delete_row_count,
            None if file.file_source is None else _SOURCES[file.file_source],
            file.first_row_id,
            None if file.write_cols is None else list(file.write_cols),
            file.file_name,
        )

    return [row(e) for e in table.live_files(snapshot)]


def _column_stats(table: Table, file: DataFileMeta) -> tuple[str, str, str]:
    """Nulls, least and greatest value of each column, as `{a=1, b=x}`; null for what is not known."""
    bounds_of = FileBounds(file, table.schema, table.schemas.load).of(None)
    found = {name: bounds_of(name) for name in sorted(table.schema.field_names)}
    known = {name: one[1] if one else Bounds() for name, one in found.items()}
    return (
        _pairs({name: one.null_count for name, one in known.items()}),
        _pairs({name: one.minimum for name, one in known.items()}),
        _pairs({name: one.maximum for name, one in known.items()}),
    )


def _pairs(values: Mapping[str, Any]) -> str:
    shown = (f"{name}={'null' if value is None else value}" for name, value in values.items())
    return f"{{{', '.join(shown)}}}"


def _key(row: bytes, types: Sequence[Any]) -> str:
    return f"[{', '.join(str(value) for value in decode_row(row, types))}]"


def _manifests(table: Table, snapshot: Snapshot | None) -> _Rows:
    """The manifests, with bounds of the partitions of their entries."""
    if snapshot is None:
        return []
    # With filled rows, there are bounds of other columns only.
    types = [] if table.schema.partition_fill else [f.type for f in table.schema.partition_fields]
    lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
    if snapshot.changelog_manifest_list:
        lists.append(snapshot.changelog_manifest_list)
    return [
        (
            one.file_name,
            one.file_size,
            one.num_added_files,
            one.num_deleted_files,
            one.schema_id,
            *_partition_bounds(one.partition_stats, types),
            one.min_row_id,
            one.max_row_id,
        )
        for name in lists
        for one in table.manifests.read_list(name)
    ]


def _partition_bounds(stats: SimpleStats, types: Sequence[Any]) -> tuple[str | None, str | None]:
    """The least and greatest values; nothing where entries have partition columns of before."""
    if len(stats.null_counts) != len(types):
        return None, None
    return _bounds(stats.min_values, types), _bounds(stats.max_values, types)


def _bounds(row: bytes, types: Sequence[Any]) -> str:
    return f"{{{', '.join('null' if value is None else str(value) for value in decode_row(row, types))}}}"


def _partitions(table: Table, snapshot: Snapshot | None) -> _Rows:
    """The partitions that hold files. Nothing here knows the creator of a partition, nor the time of its creation."""
    partition_format = PartitionFormat(table.schema)
    groups = _grouped(table, snapshot, lambda e: e.partition)
    rows = [(partition_format.shown(row), *_figures(table, files, snapshot), *_UNKNOWN) for row, files in groups]
    return sorted(rows, key=lambda row: row[0])


def _buckets(table: Table, snapshot: Snapshot | None) -> _Rows:
    """The buckets that hold files. A partition is written as its values, `{2024-01-01, 3}`."""
    partition_format = PartitionFormat(table.schema)
    groups = _grouped(table, snapshot, lambda e: (e.partition, e.bucket))
    rows = [
        (partition_format.braced(row), bucket, *_figures(table, files, snapshot)) for (row, bucket), files in groups
    ]
    return sorted(rows, key=lambda row: row[:2])


def _grouped(
    table: Table, snapshot: Snapshot | None, key: Callable[[ManifestEntry], Any]
) -> list[tuple[Any, list[ManifestEntry]]]:
    found: dict[Any, list[ManifestEntry]] = {}
    for entry in table.live_files(snapshot) if snapshot else []:
        found.setdefault(key(entry), []).append(entry)
    return sorted(found.items())


def _figures(table: Table, files: list[ManifestEntry], snapshot: Snapshot | None) -> tuple[Any, ...]:
    newest = max((e.file.creation_time_millis or 0 for e in files), default=0)
    size = sum(e.file.file_size for e in files)
    return table.count_rows(files, snapshot).rows, size, len(files), _time(newest or None)


def _statistics(table: Table, snapshot: Snapshot | None) -> _Rows:
    """The results of ANALYZE TABLE; no row when it was never run.

    Raises:
        CorruptMetadataError: the file is lost.
    """
    found = table.statistics_of(snapshot)
    if found is None:
        if snapshot is not None and snapshot.statistics is not None:
            raise CorruptMetadataError(table.paths.statistics(snapshot.statistics), "it is missing")
        return []
    return [(found.snapshot_id, found.schema_id, found.row_count, found.row_size, found.columns_text())]


SNAPSHOT_TABLES: dict[str, tuple[str, Callable[[Table, Snapshot | None], _Rows]]] = {
    "files": (
        (
            "partition string, bucket int, file_path string, file_format string, schema_id bigint, "
            "level int, record_count bigint, file_size_in_bytes bigint, min_key string, max_key string, "
            "null_value_counts string, min_value_stats string, max_value_stats string, "
            "min_sequence_number bigint, max_sequence_number bigint, creation_time timestamp, "
            "deleteRowCount bigint, file_source string, first_row_id bigint, write_cols array<string>, "
            "file_name string"
        ),
        _files,
    ),
    "manifests": (
        (
            "file_name string, file_size bigint, num_added_files bigint, num_deleted_files bigint, schema_id bigint, "
            "min_partition_stats string, max_partition_stats string, min_row_id bigint, max_row_id bigint"
        ),
        _manifests,
    ),
    "partitions": (
        (
            "partition string, record_count bigint, file_size_in_bytes bigint, file_count bigint, "
            "last_update_time timestamp, created_at timestamp, created_by string, updated_by string, options string"
        ),
        _partitions,
    ),
    "buckets": (
        (
            "partition string, bucket int, record_count bigint, file_size_in_bytes bigint, file_count bigint, "
            "last_update_time timestamp"
        ),
        _buckets,
    ),
    "statistics": (
        "snapshot_id bigint, schema_id bigint, mergedRecordCount bigint, mergedRecordSize bigint, colstat string",
        _statistics,
    ),
    "table_indexes": (TABLE_INDEXES, table_indexes),
}
"""Those of one snapshot: columns as Spark declares them, and the rows."""

DATA_TABLES = ("audit_log", "binlog", "ro", "read_optimized")
"""Those whose rows are data: `spark.changelog.system_frames` reads them."""


def names() -> list[str]:
    """The names of all system tables."""
    return [*SYSTEM_TABLES, *SNAPSHOT_TABLES, *DATA_TABLES]


def system_rows(table: Table, name: str, snapshot: Snapshot | None, *, travels: bool = False) -> tuple[str, _Rows]:
    """Columns as Spark declares them, and rows of `table$name` at a snapshot; `travels`: the query asks for this one.

    Raises:
        TableNotFound: there is no such system table; the message says which there are.
        SqlError: an earlier snapshot of what belongs to the whole table.
    """
    if travels and snapshot is not None:
        table = table.with_schema(table.schema_of(snapshot))
    if name in SNAPSHOT_TABLES:
        schema, rows_at = SNAPSHOT_TABLES[name]
        return schema, rows_at(table, snapshot)
    if name not in SYSTEM_TABLES:
        raise TableNotFound(f"'{table.name}${name}' does not exist.", hint=f"System tables are: {', '.join(names())}.")
    if travels:
        raise SqlError(
            f"'{table.name}${name}' is of the whole table and has no versions.",
            hint=f"These have: {', '.join([*SNAPSHOT_TABLES, *DATA_TABLES])}.",
        )
    schema, rows = SYSTEM_TABLES[name]
    return schema, rows(table)


def columns_of(table: Table, name: str) -> list[tuple[str, str, str | None]]:
    """Names, types and comments of the columns of `table$name`; empty when there is no such system table."""
    if name in DATA_TABLES:
        listed = "array<{}>" if name == "binlog" else "{}"
        own = [(f.name, listed.format(spark_type(f.type)), f.description) for f in table.schema.fields]
        return [("rowkind", "string", None), *own] if name in ("audit_log", "binlog") else own
    texts = {known: schema for known, (schema, _) in (*SYSTEM_TABLES.items(), *SNAPSHOT_TABLES.items())}
    pairs = [one.split(" ") for one in texts[name].split(", ")] if name in texts else []
    return [(column, kind, None) for column, kind in pairs]
