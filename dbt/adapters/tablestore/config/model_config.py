"""The config keys of a model: which there are, and the meaning of each by itself.

`TableStoreConfig` declares them to dbt. A key that is misspelt is reported with the nearest correct one. `table_layout`
makes the layout of a table from all of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Dict, List, Optional, Union  # noqa: UP035 - dbt reads these at run time

from dbt.adapters.protocol import AdapterConfig
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.foreign_config import FOREIGN_KEYS, MERGE_KEYS, partition_column
from tablestore_engine.schema.types.sql_literals import quoted_name, unquoted_name

Names = Optional[Union[str, List[str]]]  # noqa: UP006,UP007,UP045

LOOSE_KEY_HINT = (
    "This key is the model's `unique_key`. Where it may be null, set `enforce_key: false`; where it may occur twice, "
    "`incremental_strategy: delete+insert`. Run once with --full-refresh if the table exists."
)
"""The advice for rows whose key is null or occurs twice, if the key comes from `unique_key`."""

CHANGELOG = "changelog"
_OF_A_MERGE = ("merge_update_columns", "merge_exclude_columns", "incremental_predicates")
KEY_STRATEGIES = ("upsert", "merge", CHANGELOG)
"""Incremental strategies for which `unique_key` becomes the table's primary key."""


@dataclass
class TableStoreConfig(AdapterConfig):
    """The keys that models, seeds and snapshots may set in addition to dbt's own."""

    primary_key: Names = None
    partition_by: Optional[Union[str, List[str], Dict[str, Any]]] = None  # noqa: UP006,UP007,UP045
    buckets: Optional[int] = None  # noqa: UP045
    bucket: Optional[int] = None  # noqa: UP045
    compaction: Optional[Union[str, Dict[str, Any]]] = None  # noqa: UP006,UP007,UP045
    merge_engine: Optional[str] = None  # noqa: UP045
    sequence_field: Names = None
    fields: Optional[Dict[str, Any]] = None  # noqa: UP006,UP045
    row_kind: Optional[bool] = None  # noqa: UP045
    on_expired: Optional[str] = None  # noqa: UP045
    table_options: Optional[Dict[str, Any]] = None  # noqa: UP006,UP045
    file_format: Optional[str] = None  # noqa: UP045
    enforce_key: Optional[bool] = None  # noqa: UP045
    incremental_predicates: Names = None
    merge_update_columns: Names = None
    merge_exclude_columns: Names = None
    clustered_by: Names = None
    tblproperties: Optional[Dict[str, Any]] = None  # noqa: UP006,UP045
    dialect: Optional[str] = None  # noqa: UP045


OWN_KEYS = tuple(one.name for one in fields(TableStoreConfig))

# Keys of dbt that change what an incremental model does, so that a misspelling would go unnoticed.
_DECISIVE_KEYS = (
    "unique_key",
    "incremental_strategy",
    "on_schema_change",
    "event_time",
    "batch_size",
    "full_refresh",
)

# Keys of dbt-spark projects about how Spark stores a table; the engine stores managed tables in its own way.
IGNORED_SPARK_KEYS = ("location_root", "options")

_PLAIN_NAME = re.compile(r"^\w+$|^`(?:[^`]|``)+`$")


def key_of_upserts(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of `unique_key` if it becomes the primary key, because rows are upserted by it."""
    if column_names(config, "primary_key") or config.get("enforce_key") is False:
        return ()
    if config.get("materialized") == "incremental" and strategy_of(config) in KEY_STRATEGIES:
        unique = unique_keys(config)
        if all(_PLAIN_NAME.match(one) for one in unique):
            return tuple(dict.fromkeys(unquoted_name(one) for one in unique))
    return ()


def unique_keys(config: Mapping[str, Any]) -> tuple[str, ...]:
    """`unique_key` (or else `primary_key`), as columns or expressions in SQL, each once; empty when rows have no
    key."""
    names = config.get("unique_key")
    if not names:
        keys = column_names(config, "primary_key")
        return tuple(one if _PLAIN_NAME.match(one) else quoted_name(one) for one in keys)
    if isinstance(names, str):
        names = [names]
    return tuple(dict.fromkeys(str(one) for one in names if str(one).strip()))


def strategy_of(config: Mapping[str, Any]) -> str:
    """The incremental strategy: what is configured, else `upsert` when rows have a key, else `append`."""
    configured = config.get("incremental_strategy")
    if configured and configured != "default":
        return str(configured)
    return "upsert" if unique_keys(config) else "append"


def takes_row_kinds(config: Mapping[str, Any]) -> bool:
    """Whether a model's rows say by `_row_kind` what they do."""
    return bool(config.get("row_kind")) or config.get("incremental_strategy") == CHANGELOG


def check_key(config: Mapping[str, Any]) -> None:
    """Refuse an upsert of rows that have no key, and what only a MERGE would take from a strategy that makes none.
    `merge` without a key only inserts, as in other adapters.

    Raises DbtRuntimeError.
    """
    if config.get("incremental_strategy") == CHANGELOG and (found := [one for one in _OF_A_MERGE if config.get(one)]):
        raise DbtRuntimeError(
            f"Incremental strategy '{CHANGELOG}' takes each row as its `_row_kind` says, so `{found[0]}` would have no"
            " effect. Remove it, or use the strategy 'upsert' on rows without `_row_kind`."
        )
    if config.get("incremental_strategy") == "upsert" and not unique_keys(config):
        raise DbtRuntimeError(
            "Incremental strategy 'upsert' needs a key. Set `unique_key`, or use the strategy 'append'."
        )


def check_spelling(config: Mapping[str, Any]) -> None:
    """Refuse a config key that is not read and resembles one that changes what is written."""
    known = set(OWN_KEYS) | set(IGNORED_SPARK_KEYS) | {*FOREIGN_KEYS, *MERGE_KEYS} | _dbt_keys()
    for key, value in config.items():
        if key in known or value is None:
            continue
        near = difflib.get_close_matches(str(key).lower(), (*OWN_KEYS, *_DECISIVE_KEYS), n=1, cutoff=0.85)
        if near:
            raise DbtRuntimeError(f"Unknown config '{key}'. Did you mean '{near[0]}'?")


def _dbt_keys() -> set[str]:
    from dbt.artifacts.resources import ModelConfig, SeedConfig, SnapshotConfig

    return {one.name for kind in (ModelConfig, SeedConfig, SnapshotConfig) for one in fields(kind)}


def partition_columns(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of `partition_by`; of BigQuery's mapping the column, if it can be a partition column unchanged."""
    given = config.get("partition_by")
    if not isinstance(given, Mapping):
        return column_names(config, "partition_by")
    column = partition_column(given) if given else None
    return () if column is None else (unquoted_name(column),)


def column_names(config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The columns that a config names in a list or a text like `a, b`, without backquotes and repetitions.

    Raises DbtRuntimeError for anything else.
    """
    value = config.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        value = list(value.split(","))
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or not all(isinstance(one, str) for one in value):
        raise DbtRuntimeError(f"Config `{key}` must be a column name or a list of column names.")
    return tuple(dict.fromkeys(unquoted_name(one) for one in value if one.strip()))


def with_written_configs(model: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """A model whose columns have all keys of their `config` in the YAML, as it is written; dbt keeps meta and tags."""
    written: dict[str, Mapping[str, Any]] = {}
    for entry in document.get("models") or ():
        if entry.get("name") == model.get("name"):
            versions = [one for one in entry.get("versions") or () if str(one.get("v")) == str(model.get("version"))]
            for column in (one for part in (entry, *versions) for one in part.get("columns") or ()):
                written[str(column.get("name"))] = column.get("config") or {}
    columns = {
        name: {**column, "config": {**written.get(str(column["name"]), {}), **(column.get("config") or {})}}
        for name, column in (model.get("columns") or {}).items()
    }
    return {**model, "columns": columns}
