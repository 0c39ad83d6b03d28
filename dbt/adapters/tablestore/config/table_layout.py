"""The layout of a model's table: its primary key, partition columns and options, all that CREATE TABLE states.

`TableLayout.of` reads them from the keys of a model's config and refuses what it does not know.

Invariant: the engine can parse the clauses of every `TableLayout.of`. An option that is misspelt is reported by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.compaction_config import compaction_options
from dbt.adapters.tablestore.config.contracts import is_enforced, primary_key
from dbt.adapters.tablestore.config.foreign_config import check_merge, check_overwrite, is_foreign_property
from dbt.adapters.tablestore.config.model_config import (
    KEY_STRATEGIES,
    check_spelling,
    column_names,
    key_of_upserts,
    partition_columns,
    strategy_of,
)
from dbt.adapters.tablestore.config.option_changes import DBT_OPTIONS, STORED_QUERY, remembered
from dbt.adapters.tablestore.config.table_constraints import NO_CONSTRAINTS, TableConstraints
from tablestore_engine.options import FileOptions
from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text


@dataclass(frozen=True)
class TableLayout:
    """Primary key, partition columns and options of the table that a model builds.

    keys_move: whether a key may move to another partition, because partition columns are not part of it. The table is
    then created with dynamic buckets. query: the query of a materialized view, which its table remembers.
    constraints: those that the table keeps, which are no part of the clauses. listed: columns and constraints that are.
    remembers: whether the options are a model's own, which its table remembers; those of a copy need not be.
    """

    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    keys_move: bool = False
    query: str | None = None
    constraints: TableConstraints = NO_CONSTRAINTS
    listed: tuple[str, ...] = ()
    remembers: bool = True

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
        layout = cls(
            keys or primary_key or _contract_key(model),
            partition_by,
            options,
            keys_move,
            constraints=TableConstraints.of(model),
        )
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
        key = [f"primary key ({_columns(self.primary_key)}) not enforced"] if self.primary_key else []
        if key or self.listed:
            parts.append(f"({', '.join((*self.listed, *key))})")
        if comment:
            parts.append(f"comment {quoted_text(comment)}")
        if self.partition_by:
            parts.append(f"partitioned by ({_columns(self.partition_by)})")
        options = {**self.options, "bucket": "-1"} if self.keys_move else dict(self.options)
        if self.remembers and (own := remembered(self.options)):
            options.setdefault(DBT_OPTIONS, own)
        if self.query is not None:
            options[STORED_QUERY] = self.query
        if options:
            pairs = ", ".join(f"{quoted_text(k)} = {quoted_text(v)}" for k, v in options.items())
            parts.append(f"with ({pairs})")
        return "\n  ".join(parts)


def _contract_key(model: Mapping[str, Any]) -> tuple[str, ...]:
    """The primary key constraint of an enforced contract."""
    return primary_key(model) if is_enforced(model) else ()


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


def _options(config: Mapping[str, Any]) -> dict[str, str]:
    """All options of the table, from their own keys and from `table_options` and `tblproperties`."""
    options: dict[str, str] = {}
    named: dict[str, Any] = {
        "bucket": _buckets(config),
        "merge-engine": config.get("merge_engine"),
        "sequence.field": ",".join(column_names(config, "sequence_field")) or None,
        "bucket-key": ",".join(column_names(config, "clustered_by")) or None,
        "file.format": _file_format(config),
    }
    source = {"bucket": "buckets", "merge-engine": "merge_engine", "sequence.field": "sequence_field",
              "bucket-key": "clustered_by", "file.format": "file_format"}  # fmt: skip
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
            if value is None or (name == "tblproperties" and is_foreign_property(str(key))):
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


def _file_format(config: Mapping[str, Any]) -> str | None:
    """`file_format`, if it is a format of data files. Other ones that dbt-spark knows are kinds of tables."""
    given = str(config.get("file_format") or "").strip().lower()
    return given if given in FileOptions.file_format.choices else None


def _field_options(fields: Any) -> dict[str, str]:
    """Options of single columns: `{'total': 'sum'}`, or `{'names': {'function': 'listagg', 'distinct': true}}`."""
    if not isinstance(fields, Mapping):
        raise DbtRuntimeError("Config `fields` must map columns to aggregate functions, like `{'total': 'sum'}`.")
    from tablestore_engine.options import spellings

    options = {}
    for column, given in fields.items():
        settings = given if isinstance(given, Mapping) else {"function": given}
        for key, value in settings.items():
            if value is None:
                continue
            name = spellings(f"fields.{column}.{str(key).replace('_', '-')}")[0]
            options[name] = _text(value)
    return options


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)


def _columns(names: Iterable[str]) -> str:
    return ", ".join(quoted_name(one) for one in names)
