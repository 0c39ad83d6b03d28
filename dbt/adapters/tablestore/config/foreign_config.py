"""Configs for other adapters. Public packages set those of several adapters on one model.

Vocabulary: a *foreign key* is a config key that another adapter reads and this one does not. A *foreign property* is an
entry of `tblproperties` for another table format. A *notice* is one sentence about a config that is ignored. It is the
same for all models that set the config, so that it is shown once in a run.

Invariant: a config that decides which rows a statement changes is never ignored; it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.errors import nearest
from tablestore_engine.options import OPTIONS, find_option

FOREIGN_KEYS: Mapping[str, str] = {
    # the order and distribution of rows: BigQuery, Snowflake, Databricks, Redshift, Postgres, DuckDB
    "cluster_by": "`clustered_by` with `buckets`",
    "liquid_clustered_by": "`clustered_by` with `buckets`",
    "auto_liquid_cluster": "",
    "automatic_clustering": "",
    "zorder": "",
    "sort": "",
    "sort_type": "",
    "dist": "",
    "indexes": "",
    "unlogged": "",
    # Athena, Trino, Glue
    "partitioned_by": "`partition_by`",
    "partition_key": "`partition_by`",
    "bucketed_by": "`clustered_by`",
    "bucket_count": "`buckets`",
    "table_properties": "`table_options`",
    "properties": "`table_options`",
    # ClickHouse, StarRocks
    "distributed_by": "`clustered_by`",
    "sharding_key": "`clustered_by`",
    "order_by": "",
    "engine": "",
    "settings": "`table_options`",
    # file formats and locations
    "format": "",
    "table_format": "",
    "table_type": "",
    "write_compression": "the table option `file.compression`",
    "external_location": "",
    "external_volume": "",
    "base_location_root": "",
    "base_location_subpath": "",
    "merge_with_schema_evolution": "`on_schema_change`",
    "immutable_where": "",
    "partitions": "",
    # expiration and access
    "ttl": "the table option `partition.expiration-time`",
    "partition_expiration_days": "the table option `partition.expiration-time`",
    "hours_to_expiration": "",
    "require_partition_filter": "",
    "row_access_policy": "",
    "grant_access_to": "",
}
"""Foreign keys about the table or its rows, and the equivalent config of this adapter; empty when there is none."""

MERGE_KEYS = (
    "matched_condition", "not_matched_condition", "not_matched_by_source_action", "not_matched_by_source_condition",
    "skip_matched_step", "skip_not_matched_step", "update_condition", "insert_condition", "delete_condition",
)  # fmt: skip
"""Foreign keys that decide which rows a merge changes (Databricks, Athena)."""

_FOREIGN_PARTITIONS = ("partitioned_by", "partition_key")

_FOREIGN_PROPERTIES = re.compile(
    r"(delta\w*|hoodie|hudi|iceberg|external|write|read|parquet|orc|avro|history|hive|spark|pipelines)\..*"
    r"|commit\.(retry|manifest|status-check).*|format-version|transactional\w*|auto\.purge|classification"
    r"|primaryKey|preCombineField"
)

_PARTITION_NOTICE = (
    "Config `partition_by` of BigQuery is ignored where it is not a date by day: to partition by hours, months or "
    "ranges, add such a column to the query and name it in `partition_by`."
)


def notices(config: Mapping[str, Any]) -> tuple[str, ...]:
    """One sentence for each config of a model that is ignored; none for keys without a value."""
    found = []
    for key, here in FOREIGN_KEYS.items():
        own = re.fullmatch(r"`(\w+)`.*", here)
        if config.get(key) and not (own and config.get(own[1])):
            instead = f" Here, {here} says the like." if here else ""
            found.append(f"Config `{key}` is another adapter's and is ignored.{instead}")
    partition = config.get("partition_by")
    if isinstance(partition, Mapping) and partition_column(partition) is None:
        found.append(_PARTITION_NOTICE)
    properties = config.get("tblproperties")
    if isinstance(properties, Mapping):
        found += [
            f"'{key}' in `tblproperties` is not an option of managed tables and is ignored."
            for key in properties
            if is_foreign_property(str(key))
        ]
    return tuple(found)


def is_foreign_property(key: str) -> bool:
    """Whether an entry of `tblproperties` is for another table format or for human readers, not a misspelt option."""
    if find_option(key) is not None:
        return False
    if _FOREIGN_PROPERTIES.fullmatch(key):
        return True
    names = [name for one in OPTIONS for name in one.keys]
    families = {re.split(r"[.-]", name)[0] for name in names if re.search(r"[.-]", name)}
    return re.split(r"[._-]", key)[0] not in families and nearest(key.replace("_", "-"), names) is None


def partition_column(partition_by: Mapping[str, Any]) -> str | None:
    """The column of BigQuery's `partition_by` where it can be used unchanged as a partition column: a date by day.

    None for hours, months and ranges, which are computed from a column, and for the time of ingestion.

    Raises DbtRuntimeError for a mapping that names no column.
    """
    field = partition_by.get("field")
    if not isinstance(field, str) or not field.strip():
        raise DbtRuntimeError(
            "Config `partition_by` must be a column name or a list of column names, "
            "or BigQuery's mapping with a `field`."
        )
    kind = str(partition_by.get("data_type") or "date").lower()
    granularity = str(partition_by.get("granularity") or "day").lower()
    by_day = kind == "date" and granularity == "day" and not partition_by.get("time_ingestion_partitioning")
    return field.strip() if by_day else None


def check_merge(config: Mapping[str, Any]) -> None:
    """Refuse a merge in which another adapter would change fewer or more rows. Raises DbtRuntimeError."""
    asked = next((key for key in MERGE_KEYS if config.get(key)), None)
    if asked is not None:
        raise DbtRuntimeError(
            f"Config `{asked}` is another adapter's and decides which rows a merge "
            f"changes, so it is not ignored. Say it in "
            "the query or in `incremental_predicates`, set `merge_update_columns`, or write a MERGE in a hook."
        )


def check_overwrite(config: Mapping[str, Any]) -> None:
    """Refuse `insert_overwrite` of a model whose partitions are only set by a config of another adapter.

    Without partitions it replaces the whole table, which such a model does not intend. Raises DbtRuntimeError.
    """
    asked = next((key for key in ("partition_by", *_FOREIGN_PARTITIONS) if config.get(key)), None)
    if asked is None:
        return
    what = "is another adapter's" if asked != "partition_by" else "is BigQuery's and is not a date by day"
    raise DbtRuntimeError(
        f"Config `{asked}` {what}, so 'insert_overwrite' would replace the whole "
        f"table. Name partition columns of the query "
        "in `partition_by`, or use the strategy 'delete+insert' or 'microbatch'."
    )
