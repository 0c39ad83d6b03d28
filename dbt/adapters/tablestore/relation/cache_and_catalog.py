"""The content of dbt's relation cache and its catalog (`dbt docs`): relations, their columns and statistics.

Read from the engine's catalog, without SQL or Spark.

A *description* is what the catalog knows of one table or view. Invariant: a missing schema or relation gives an empty
answer; metadata that cannot be read is an error. Nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.relation import RelationType

from dbt.adapters.tablestore.config.option_changes import STORED_QUERY
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from dbt.adapters.tablestore.relation.lag import lags_of
from dbt.adapters.tablestore.relation.relation import TableStoreRelation
from tablestore_engine.schema.types.sql_literals import spark_type

if TYPE_CHECKING:
    import agate

    from tablestore_engine.catalog import Catalog

STATS = ("row_count", "bytes", "last_modified", "files", "snapshots", "primary_key", "partitions", "buckets", "lag")
"""The ids of the statistics that `dbt docs` shows of a table."""

_LABELS = {
    "row_count": (
        "Row Count",
        "Number of rows at the last commit; updates that are not compacted yet may count",
    ),
    "bytes": ("Approximate Size", "Bytes of the table's live data files"),
    "last_modified": ("Last Modified", "Time of the last commit that changed data"),
    "files": ("Data Files", "Number of live data files"),
    "snapshots": ("Snapshots", "Number of snapshots that can be read"),
    "primary_key": ("Primary Key", "Columns that identify a row"),
    "partitions": ("Partitions", "Partition columns and the number of partitions"),
    "buckets": ("Buckets", "Number of buckets in each partition"),
    "lag": ("Lag", "How far the table is behind the tables whose changes it was computed from"),
}
_COLUMNS = ("table_database", "table_schema", "table_name", "table_type", "table_comment", "table_owner",
            "column_name", "column_index", "column_type", "column_comment")  # fmt: skip


@dataclass(frozen=True)
class Description:
    """One table or view: names as stored, columns in order, statistics by id (none for a view)."""

    schema: str
    name: str
    kind: str
    comment: str | None
    columns: tuple[TableStoreColumn, ...]
    stats: dict[str, Any]


def list_relations(catalog: Catalog, schema: str) -> list[TableStoreRelation]:
    """All tables, views and functions of a schema; empty when the schema does not exist."""
    if not catalog.database_exists(schema):
        return []
    tables, views = catalog.list_tables(schema), catalog.list_views(schema)
    # A function may share the name of a table, and dbt's cache takes a name once.
    functions = sorted({*catalog.functions.names(schema)} - {*tables, *views})
    kinds = ((RelationType.Table, tables), (RelationType.View, views), (RelationType.Function, functions))
    return [
        TableStoreRelation.create(schema=schema, identifier=name, type=kind) for kind, names in kinds for name in names
    ]


def columns_of(catalog: Catalog, schema: str, name: str) -> list[TableStoreColumn]:
    """The columns of a table or view; empty when there is none of that name."""
    kind = catalog.object_kind(schema, name)
    if kind == "table":
        fields = catalog.load_table(schema, name).schema.fields
    elif kind == "view":
        fields = catalog.load_view(schema, name).columns
    else:
        return _system_columns(catalog, schema, name)
    return [TableStoreColumn(one.name, spark_type(one.type), comment=one.description) for one in fields]


def _system_columns(catalog: Catalog, schema: str, name: str) -> list[TableStoreColumn]:
    """The columns of a system table, `orders$snapshots`; empty for any other name."""
    base, _, system = name.partition("$")
    if not system or catalog.object_kind(schema, base) != "table":
        return []
    from tablestore_engine.system.system_tables import columns_of as columns_of_system_table

    found = columns_of_system_table(catalog.load_table(schema, base), system.lower())
    return [TableStoreColumn(column, kind, comment=comment) for column, kind, comment in found]


def describe(catalog: Catalog, schema: str, name: str) -> Description | None:
    """The metadata of a table or view; None when there is none of that name."""
    kind = catalog.object_kind(schema, name)
    columns = tuple(columns_of(catalog, schema, name))
    if kind is None:
        return Description(schema, name, "table", None, columns, {}) if columns else None
    if kind == "view":
        return Description(schema, name, "view", catalog.load_view(schema, name).comment, columns, {})
    table = catalog.load_table(schema, name)
    found = table.statistics()
    stats = {
        "row_count": found.row_count,
        "bytes": found.bytes,
        "last_modified": _time_text(found.last_modified_millis),
        "files": found.files,
        "snapshots": found.snapshots,
        "primary_key": ", ".join(table.schema.primary_keys) or None,
        "partitions": _partition_text(table.schema.partition_keys, found.partitions),
        "buckets": found.buckets if table.schema.is_keyed else None,
        "lag": "; ".join(map(str, lags_of(catalog, table))) or None,
    }
    kind = "materialized_view" if STORED_QUERY in table.schema.options else "table"
    return Description(schema, name, kind, table.schema.comment, columns, stats)


def last_modified(catalog: Catalog, schema: str, name: str) -> datetime | None:
    """When data was last committed to a table; None if it never was.

    A system table is as fresh as its table. Raises the engine's TableNotFound for anything but a table.
    """
    base, _, system = name.partition("$")
    if system and not catalog.table_exists(schema, name):
        name = base
    millis = catalog.load_table(schema, name).last_modified_millis()
    return None if millis is None else datetime.fromtimestamp(millis / 1000, timezone.utc)


def catalog_table(descriptions: Iterable[Description]) -> agate.Table:
    """The table that dbt builds its catalog from: one row for each column of each relation."""
    import agate
    from dbt_common.clients.agate_helper import Integer, Number

    text = agate.Text(null_values=())
    names, types = list(_COLUMNS), [Integer() if one == "column_index" else text for one in _COLUMNS]
    for stat in STATS:
        number = stat in ("row_count", "bytes", "files", "snapshots", "buckets")
        names += [f"stats:{stat}:{part}" for part in ("label", "value", "description", "include")]
        types += [text, Number() if number else text, text, agate.Boolean()]
    rows = [row for one in descriptions for row in _catalog_rows(one)]
    return agate.Table(rows, names, types)


def stats_of(description: Description) -> dict[str, Any]:
    """The statistics that have a value, in the form of dbt's catalog contract."""
    from dbt_common.contracts.metadata import StatsItem

    known = {key: value for key, value in description.stats.items() if value is not None}
    items = {
        key: StatsItem(id=key, label=_LABELS[key][0], value=value, include=True, description=_LABELS[key][1])
        for key, value in known.items()
    }
    items["has_stats"] = StatsItem(
        id="has_stats", label="Has Stats?", value=bool(known), include=False,
        description="Indicates whether there are statistics for this table",
    )  # fmt: skip
    return items


def _catalog_rows(one: Description) -> list[list[Any]]:
    stats: list[Any] = []
    for key in STATS:
        label, text = _LABELS[key]
        value = one.stats.get(key)
        stats += [label, value, text, value is not None]
    return [
        [
            None,
            one.schema,
            one.name,
            one.kind,
            one.comment,
            None,
            column.name,
            index,
            column.dtype,
            column.comment,
            *stats,
        ]
        for index, column in enumerate(one.columns, start=1)
    ]


def _time_text(millis: int | None) -> str | None:
    if millis is None:
        return None
    return datetime.fromtimestamp(millis / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def _partition_text(keys: Sequence[str], count: int) -> str | None:
    return f"{', '.join(keys)} ({count:,})" if keys else None
