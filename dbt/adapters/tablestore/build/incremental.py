"""The decisions about incremental models; `verbs` carries them out.

Vocabulary: *source columns* are those of the model's query, *target columns* those of its table. Invariant:
columns are matched by name, without regard to case, never by position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config.model_config import column_names, unique_keys
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.merge.engine_rules import Kept
from tablestore_engine.schema.merge.merge_engine import MergeEngine
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.text.lexer import tokenize
from tablestore_engine.sql.text.types import parse_sql_type


@dataclass(frozen=True)
class SchemaChange:
    """How the columns of a query differ from those of its table. It is false when they do not differ."""

    source_columns: tuple[TableStoreColumn, ...]
    target_columns: tuple[TableStoreColumn, ...]
    added: tuple[TableStoreColumn, ...]
    removed: tuple[TableStoreColumn, ...]
    retyped: tuple[TableStoreColumn, ...]

    @classmethod
    def between(cls, source: Sequence[TableStoreColumn], target: Sequence[TableStoreColumn]) -> SchemaChange:
        old = {one.name.lower(): one for one in target}
        new = {one.name.lower(): one for one in source}
        return cls(
            tuple(source),
            tuple(target),
            added=tuple(one for key, one in new.items() if key not in old),
            removed=tuple(one for key, one in old.items() if key not in new),
            retyped=tuple(one for key, one in new.items() if key in old and not one.fits_into(old[key])),
        )

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.retyped)

    @property
    def text(self) -> str:
        """`new columns a, b; missing columns c; changed types d (int, not bigint)`."""
        old = {one.name.lower(): one.dtype for one in self.target_columns}
        parts = []
        if self.added:
            parts.append(f"new columns {', '.join(one.name for one in self.added)}")
        if self.removed:
            parts.append(f"missing columns {', '.join(one.name for one in self.removed)}")
        if self.retyped:
            changes = (f"{one.name} ({one.dtype}, not {old[one.name.lower()]})" for one in self.retyped)
            parts.append(f"changed types {', '.join(changes)}")
        return "; ".join(parts)

    def rewritten(self) -> list[str]:
        """The select list that rewrites the table with exactly the source columns."""
        retyped = {one.name.lower() for one in self.retyped}
        old = {one.name.lower(): one for one in self.target_columns}
        added = {one.name.lower() for one in self.added}
        items = []
        for one in self.source_columns:
            name = one.name.lower()
            if name in added:
                items.append(f"cast(null as {one.dtype}) as {one.quoted}")
            elif name in retyped:
                items.append(f"cast({_by_name(old[name], one)} as {one.dtype}) as {one.quoted}")
            else:
                items.append(one.quoted)
        return items


def _by_name(old: TableStoreColumn, new: TableStoreColumn) -> str:
    """SQL of an old column whose structs have their fields in the order of the new type, if only the order differs."""
    if "struct<" not in old.dtype:
        return old.quoted
    from tablestore_engine.spark.expressions.by_name import by_name_sql
    from tablestore_engine.spark.expressions.types import to_spark_type

    types = [to_spark_type(parse_sql_type(one.dtype, one.name)) for one in (old, new)]
    try:
        return by_name_sql(old.quoted, types[0], types[1], old.name)
    except SchemaError:  # other fields: a cast changes them by position
        return old.quoted


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
    if engine.kept is not Kept.NEWEST:
        return True  # the merge engine merges what is written, column by column
    return {one.name.lower() for one in columns} >= {one.name.lower() for one in table_columns}


def is_keyed_by(table_keys: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether the columns or expressions that identify a row are the table's primary key, in any order."""
    named = {one.strip().strip("`").lower() for one in keys}
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
