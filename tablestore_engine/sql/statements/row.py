"""Statements that write, change or remove rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tablestore_engine.sql.statements.statement import Assignment, PartitionSpec, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class RowStatement(Statement):
    """A statement that changes rows of ``table``; ``dynamic_options`` are those of its hint OPTIONS."""

    table: TableName
    dynamic_options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Insertion(RowStatement):
    """The rows of a query for a table."""

    columns: tuple[str, ...] = ()
    partition: PartitionSpec = ()
    query_sql: str
    by_name: bool = False


@dataclass(frozen=True, kw_only=True)
class InsertInto(Insertion):
    """INSERT INTO."""


@dataclass(frozen=True, kw_only=True)
class InsertOverwrite(Insertion):
    """INSERT OVERWRITE, or INSERT INTO … REPLACE WHERE when ``replace_where_sql`` is set.

    ``partition`` empty overwrites the table, or the partitions that appear in the query, according to the
    session's partition overwrite mode; with entries, only partitions with their static values are overwritten.
    """

    if_not_exists: bool = False
    replace_where_sql: str | None = None


@dataclass(frozen=True, kw_only=True)
class Update(RowStatement):
    alias: str | None = None
    assignments: tuple[Assignment, ...]
    where_sql: str | None = None


@dataclass(frozen=True, kw_only=True)
class Delete(RowStatement):
    alias: str | None = None
    where_sql: str | None = None


@dataclass(frozen=True, kw_only=True)
class MergeClause:
    """One WHEN clause of MERGE. ``action`` is UPDATE, DELETE or INSERT; ``star`` for UPDATE SET * and
    INSERT *; an INSERT has ``columns`` and, in the same order, ``values_sql``."""

    action: str
    condition_sql: str | None = None
    star: bool = False
    assignments: tuple[Assignment, ...] = ()
    columns: tuple[str, ...] = ()
    values_sql: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Merge(RowStatement):
    """MERGE INTO. ``SELECT * FROM source_sql AS source_alias`` reads the source; ``source_sql`` is a table's
    name or a query in parentheses. ``unaliased_source`` is the name of a table that the text gives no alias: the whole
    name may qualify columns, and its last part is the alias."""

    target_alias: str | None = None
    source_sql: str
    unaliased_source: TableName | None = None
    source_alias: str | None = None
    source_columns: tuple[str, ...] = ()
    on_sql: str
    matched: tuple[MergeClause, ...] = ()
    not_matched: tuple[MergeClause, ...] = ()
    not_matched_by_source: tuple[MergeClause, ...] = ()
