"""Incremental models: whether an upsert needs a MERGE, and which columns a MERGE updates.

Pure; what on_schema_change does to the columns of the table is in `on_schema_change`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.model_config import column_names, unique_keys
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.types.sql_literals import quoted_name, unquoted_name
from tablestore_engine.sql.tokens.lexer import tokenize


def is_plain_upsert(
    table_keys: Sequence[str],
    engine: MergeEngine,
    table_columns: Sequence[TableStoreColumn],
    config: Mapping[str, Any],
    columns: Sequence[TableStoreColumn],
    predicates: Any,
) -> bool:
    """Whether the rows can simply be written to the keyed table, without reading the table first."""
    if predicates or config.get("merge_update_columns") or config.get("merge_exclude_columns"):
        return False
    if not is_keyed_by(table_keys, unique_keys(config)):
        return False
    if engine.rules.kept is not Kept.NEWEST:
        return True  # the merge engine merges what is written, column by column
    return {one.name.lower() for one in columns} >= {one.name.lower() for one in table_columns}


def is_keyed_by(table_keys: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether the columns or expressions that identify a row are the table's primary key, in any order."""
    named = {unquoted_name(one).lower() for one in keys}
    return bool(named) and named == {one.lower() for one in table_keys}


def update_columns(config: Mapping[str, Any], columns: Sequence[TableStoreColumn]) -> list[str]:
    """The quoted columns that a MERGE updates: all, unless `merge_update_columns` or `merge_exclude_columns` is set.

    Raises DbtRuntimeError when both are set, or one names a column that is not written.
    """
    chosen = column_names(config, "merge_update_columns")
    excluded = column_names(config, "merge_exclude_columns")
    if chosen and excluded:
        raise DbtRuntimeError("Set merge_update_columns or merge_exclude_columns, not both.")
    by_name = {one.name.lower(): one for one in columns}
    for key, names in (("merge_update_columns", chosen), ("merge_exclude_columns", excluded)):
        unknown = [one for one in names if one.lower() not in by_name]
        if unknown:
            raise DbtRuntimeError(
                f"Config `{key}` names {', '.join(unknown)}, which the model does not have. "
                f"It has: {', '.join(one.name for one in columns)}."
            )
    if chosen:
        return [by_name[one.lower()].quoted for one in chosen]
    out = {one.lower() for one in excluded}
    return [one.quoted for name, one in by_name.items() if name not in out]


def qualified(expression: str, columns: Sequence[TableStoreColumn], alias: str) -> str:
    """The expression, with `alias.` before each unqualified name that is one of the columns."""
    names = {one.name.lower() for one in columns}
    tokens = tokenize(expression)
    text, position = [], 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1].key if index else ""
        after = tokens[index + 1].key if index + 1 < len(tokens) else ""
        if token.is_name and token.name.lower() in names and before != "." and after not in (".", "("):
            text.append(expression[position : token.start] + f"{alias}.{quoted_name(token.name)}")
            position = token.end
    return "".join(text) + expression[position:]
