"""Statements on the partitions of a table."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import PartitionSpec, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class DropPartitions(Statement):
    """ALTER TABLE … DROP PARTITION (…), …; a partial spec means all matching partitions."""

    table: TableName
    partitions: tuple[PartitionSpec, ...]
    if_exists: bool = False
