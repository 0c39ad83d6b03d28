"""Statements that change the layout of a table's rows, or analyze them."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import PartitionSpec, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class Compact(Statement):
    """ALTER TABLE … COMPACT."""

    table: TableName
    partition: PartitionSpec = ()


@dataclass(frozen=True, kw_only=True)
class AnalyzeTable(Statement):
    """ANALYZE TABLE … COMPUTE STATISTICS. ``columns`` is None without FOR COLUMNS, () for ALL COLUMNS."""

    table: TableName
    columns: tuple[str, ...] | None = None
    no_scan: bool = False


@dataclass(frozen=True, kw_only=True)
class AnalyzeTables(Statement):
    """ANALYZE TABLES [IN schema] COMPUTE STATISTICS: those of every table of a schema, by default the current one."""

    database: str | None = None
    no_scan: bool = False


@dataclass(frozen=True, kw_only=True)
class ClusterTable(Statement):
    """ALTER TABLE … [PARTITION (…)] CLUSTERED INTO n BUCKETS."""

    table: TableName
    partition: PartitionSpec = ()
    buckets: int


@dataclass(frozen=True, kw_only=True)
class AddPrimaryKey(Statement):
    """ALTER TABLE … ADD PRIMARY KEY (…) NOT ENFORCED."""

    table: TableName
    columns: tuple[str, ...]
