"""The config of a model's table, as one checked value.

Vocabulary: the *layout* of a table is its primary key, partition columns and options: all of a model's config that
CREATE TABLE states. `TableStoreConfig` declares the config keys to dbt; `TableLayout.of` reads them from a model and
refuses what it does not know.

Invariant: the engine can parse the clauses of every `TableLayout`. A misspelt key or option is reported by name, with
the nearest correct one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Optional, Union  # noqa: UP035 - dbt reads these at run time

from dbt.adapters.protocol import AdapterConfig
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.compaction_config import compaction_options
from dbt.adapters.tablestore.config.foreign_config import (
    FOREIGN_KEYS,
    MERGE_KEYS,
    check_merge,
    check_overwrite,
    is_foreign_property,
    partition_column,
)
from tablestore_engine.schema.types.sql_text import quoted_name, quoted_text

Names = Optional[Union[str, List[str]]]  # noqa: UP006,UP007,UP045

LOOSE_KEY_HINT = (
    "This key is the model's `unique_key`. Where it may be null, set `enforce_key: false`; where it may stand twice, "
    "`incremental_strategy: delete+insert`. Run once with --full-refresh if the table exists."
)
"""What to do about rows whose key is null or occurs twice, if the key comes from `unique_key`."""

KEY_STRATEGIES = ("upsert", "merge")
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
    table_options: Optional[Dict[str, Any]] = None  # noqa: UP006,UP045
    enforce_key: Optional[bool] = None  # noqa: UP045
    incremental_predicates: Names = None
    merge_update_columns: Names = None
    merge_exclude_columns: Names = None
    clustered_by: Names = None
    tblproperties: Optional[Dict[str, Any]] = None  # noqa: UP006,UP045


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
IGNORED_SPARK_KEYS = ("file_format", "location_root", "options")

_PLAIN_NAME = re.compile(r"^\w+$|^`(?:[^`]|``)+`$")


@dataclass(frozen=True)
class TableLayout:
    """Primary key, partition columns and options of the table that a model builds.

    keys_move: whether a key may move to another partition, because partition columns are not part of it. The table is
    then created with dynamic buckets.
    """

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    keys_move: bool = False

    @classmethod
    def of(cls, model: Mapping[str, Any], primary_key: tuple[str, ...] = ()) -> TableLayout:
        """The layout that the config of a dbt node asks for.

        primary_key: the key that the materialization needs, used if the user sets none.

        Raises DbtRuntimeError for a misspelt key, a key set twice, or an option the engine refuses.
        """
        config = model.get("config") or {}
        check_spelling(config)
        partition_by, options = partition_columns(config), _options(config)
        strategy = strategy_of(config) if config.get("materialized") == "incremental" else None
        if strategy == "insert_overwrite" and not partition_by:
            check_overwrite(config)
        if strategy in KEY_STRATEGIES:
            check_merge(config)
        keys, keys_move = _key_and_moves(config, partition_by, options)
        layout = cls(keys or primary_key or _contract_key(model), partition_by, options, keys_move)
        layout._check()
        return layout

    def _check(self) -> None:
        from tablestore_engine.errors import TableStoreError
        from tablestore_engine.options import CoreOptions

        if "sequence.field" in self.options and not self.primary_key:
            raise DbtRuntimeError("Config `sequence_field` needs a `primary_key` (or `unique_key`).")
        try:
            CoreOptions.parse(dict(self.options), keyed=bool(self.primary_key))
        except TableStoreError as error:
            raise DbtRuntimeError(f"In the model's config: {error}") from None

    def clauses(self, comment: str | None = None) -> str:
        """The text between the table's name and AS, for example
        `(primary key (id) not enforced) partitioned by (dt) with ('bucket' = '4')`."""
        parts = []
        if self.primary_key:
            parts.append(f"(primary key ({_columns(self.primary_key)}) not enforced)")
        if comment:
            parts.append(f"comment {quoted_text(comment)}")
        if self.partition_by:
            parts.append(f"partitioned by ({_columns(self.partition_by)})")
        options = {**self.options, "bucket": "-1"} if self.keys_move else self.options
        if options:
            pairs = ", ".join(f"{quoted_text(k)} = {quoted_text(v)}" for k, v in options.items())
            parts.append(f"with ({pairs})")
        return "\n  ".join(parts)


def _contract_key(model: Mapping[str, Any]) -> tuple[str, ...]:
    """The primary key constraint of an enforced contract."""
    contract = (model.get("config") or {}).get("contract") or {}
    enforced = contract.get("enforced") if isinstance(contract, Mapping) else contract.enforced
    if not enforced:
        return ()
    from dbt.adapters.tablestore.config.contracts import primary_key

    return primary_key(model)


def _key_and_moves(
    config: Mapping[str, Any], partition_by: tuple[str, ...], options: Mapping[str, str]
) -> tuple[tuple[str, ...], bool]:
    """The primary key that a config sets, and whether a key may move to another partition.

    In other adapters `unique_key` and `partition_by` are independent, so models written for them partition by columns
    outside the key. An explicit `primary_key` is used unchanged, and so are explicit options of buckets.
    """
    explicit = column_names(config, "primary_key")
    keys = explicit or key_of_upserts(config)
    named, parts = {one.lower() for one in keys}, {one.lower() for one in partition_by}
    if explicit or not parts or not named:
        return keys, False
    if named <= parts:
        return (), False  # a partition of one row each: the key is left to MERGE
    fixed = {"bucket", "bucket-key", "sequence.field"} & options.keys()
    return keys, not parts <= named and not fixed


def key_of_upserts(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of `unique_key` if it becomes the primary key, because rows are upserted by it."""
    if column_names(config, "primary_key") or config.get("enforce_key") is False:
        return ()
    if config.get("materialized") == "incremental" and strategy_of(config) in KEY_STRATEGIES:
        unique = unique_keys(config)
        if all(_PLAIN_NAME.match(one) for one in unique):
            return tuple(dict.fromkeys(_bare(one) for one in unique))
    return ()


def unique_keys(config: Mapping[str, Any]) -> tuple[str, ...]:
    """`unique_key` (or else `primary_key`), as columns or expressions in SQL, each once; empty when rows have no
    key."""
    names = config.get("unique_key")
    if not names:
        keys = column_names(config, "primary_key")
        return tuple(one if _PLAIN_NAME.match(one) else _columns([one]) for one in keys)
    if isinstance(names, str):
        names = [names]
    return tuple(dict.fromkeys(str(one) for one in names if str(one).strip()))


def strategy_of(config: Mapping[str, Any]) -> str:
    """The incremental strategy: what is configured, else `upsert` when rows have a key, else `append`."""
    configured = config.get("incremental_strategy")
    if configured and configured != "default":
        return str(configured)
    return "upsert" if unique_keys(config) else "append"


def check_key(config: Mapping[str, Any]) -> None:
    """Refuse an upsert of rows that have no key. `merge` without one only inserts, as in other adapters.

    Raises DbtRuntimeError.
    """
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


def _options(config: Mapping[str, Any]) -> dict[str, str]:
    """All options of the table, from their own keys and from `table_options` and `tblproperties`."""
    options: dict[str, str] = {}
    named: dict[str, Any] = {
        "bucket": _buckets(config),
        "merge-engine": config.get("merge_engine"),
        "sequence.field": ",".join(column_names(config, "sequence_field")) or None,
        "bucket-key": ",".join(column_names(config, "clustered_by")) or None,
    }
    source = {"bucket": "buckets", "merge-engine": "merge_engine", "sequence.field": "sequence_field",
              "bucket-key": "clustered_by"}  # fmt: skip
    for key, value in named.items():
        if value is not None:
            options[key] = str(value)
    options |= _field_options(config.get("fields") or {})
    options |= compaction_options(config.get("compaction"))
    for name in ("table_options", "tblproperties"):
        given = config.get(name) or {}
        if not isinstance(given, Mapping):
            raise DbtRuntimeError(f"Config `{name}` must map option names to values, like `{{'bucket': 4}}`.")
        for key, value in given.items():
            if name == "tblproperties" and is_foreign_property(str(key)):
                continue
            if key in options and options[key] != _text(value):
                other = f"`{source[key]}`" if key in source else "another key"
                raise DbtRuntimeError(f"Option '{key}' is set twice: by {other} and in `{name}`.")
            options[str(key)] = _text(value)
    return options


def _buckets(config: Mapping[str, Any]) -> Any:
    """`buckets`, which Paimon's options call `bucket`."""
    given = {name: config[name] for name in ("buckets", "bucket") if config.get(name) is not None}
    if len(set(given.values())) > 1:
        raise DbtRuntimeError(f"Configs `buckets` ({given['buckets']}) and `bucket` ({given['bucket']}) disagree.")
    return next(iter(given.values()), None)


def _field_options(fields: Any) -> dict[str, str]:
    """Options of single columns: `{'total': 'sum'}`, or `{'names': {'function': 'listagg', 'distinct': true}}`."""
    if not isinstance(fields, Mapping):
        raise DbtRuntimeError("Config `fields` must map columns to aggregate functions, like `{'total': 'sum'}`.")
    from tablestore_engine.options import spellings

    options = {}
    for column, given in fields.items():
        settings = given if isinstance(given, Mapping) else {"function": given}
        for key, value in settings.items():
            name = spellings(f"fields.{column}.{str(key).replace('_', '-')}")[0]
            options[name] = _text(value)
    return options


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)


def partition_columns(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of `partition_by`; of BigQuery's mapping the column, if it can be a partition column unchanged."""
    given = config.get("partition_by")
    if not isinstance(given, Mapping):
        return column_names(config, "partition_by")
    column = partition_column(given) if given else None
    return () if column is None else (_bare(column),)


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
    return tuple(dict.fromkeys(_bare(one) for one in value if one.strip()))


def _bare(name: str) -> str:
    name = name.strip()
    if len(name) > 1 and name[0] == name[-1] == "`":
        return name[1:-1].replace("``", "`")
    return name


def _columns(names: Iterable[str]) -> str:
    return ", ".join(quoted_name(one) for one in names)
