"""The config on_schema_change: how a query's columns differ from its table's, and the statement that adapts the table.

Vocabulary: *source columns* are those of the model's query, *target columns* those of its table. Invariant: columns are
matched by name, without regard to case, never by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.column import TableStoreColumn
from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.merge.merge_engine import MergeEngine
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


def needs_rewrite(change: SchemaChange, mode: str) -> bool:
    """Whether the table's rows are written anew. Adding columns writes no data file."""
    return mode == "sync_all_columns" and bool(change.removed or change.retyped)


def add_columns_sql(table: str, change: SchemaChange) -> str:
    """The statement that adds the new columns; empty when there are none."""
    specs = ", ".join(f"{one.quoted} {one.dtype}" for one in change.added)
    return f"alter table {table} add columns ({specs})" if change.added else ""


def rewrite_sql(table: str, clauses: str, change: SchemaChange) -> str:
    """The statement that gives the table exactly the source columns, in one atomic step."""
    return f"create or replace table {table} {clauses} as select {', '.join(change.rewritten())} from {table}"


def check_rewritable(table: str, engine: MergeEngine) -> None:
    """Raise DbtRuntimeError if writing the table's rows again would change them."""
    counts = next((fold.column for fold in engine.folds if fold.function == "count"), None)
    if counts is not None:
        raise DbtRuntimeError(
            f"Columns of {table} cannot be dropped or retyped: writing its rows anew would count them "
            f"in column {counts!r} as one each. Build the table anew with --full-refresh."
        )
