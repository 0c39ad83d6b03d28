"""Statements that show the tables and views of a schema, or one of them."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import PartitionSpec, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class ShowTablePartition(Statement):
    """SHOW TABLE EXTENDED LIKE 'table' PARTITION (…): one partition of one table."""

    table: TableName
    partition: PartitionSpec


@dataclass(frozen=True, kw_only=True)
class ShowTables(Statement):
    """SHOW TABLES; ``extended`` for SHOW TABLE EXTENDED."""

    database: str | None = None
    like: str | None = None
    extended: bool = False


@dataclass(frozen=True, kw_only=True)
class ShowViews(Statement):
    database: str | None = None
    like: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowCreateTable(Statement):
    table: TableName


@dataclass(frozen=True, kw_only=True)
class ShowTblProperties(Statement):
    table: TableName
    key: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowColumns(Statement):
    table: TableName


@dataclass(frozen=True, kw_only=True)
class ShowPartitions(Statement):
    table: TableName
    partition: PartitionSpec = ()


@dataclass(frozen=True, kw_only=True)
class ShowCatalogs(Statement):
    like: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowProcedures(Statement):
    """SHOW PROCEDURES [IN schema]."""

    schema: str | None = None


@dataclass(frozen=True, kw_only=True)
class DescribeProcedure(Statement):
    """DESCRIBE PROCEDURE; ``procedure`` comes without ``sys.``, lower-cased."""

    procedure: str


@dataclass(frozen=True, kw_only=True)
class Describe(Statement):
    """DESCRIBE TABLE; ``column`` is a dotted column name; ``as_json`` for AS JSON."""

    table: TableName
    extended: bool = False
    column: str | None = None
    partition: PartitionSpec = ()
    as_json: bool = False
