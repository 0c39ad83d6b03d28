"""Statements about functions."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.metadata.warehouse.function import FunctionDefinition
from tablestore_engine.sql.statements.statement import Existing, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class CreateFunction(Statement):
    """CREATE [OR REPLACE] [AGGREGATE] FUNCTION with a body in SQL or Python. See `metadata.warehouse.function`."""

    function: TableName
    definition: FunctionDefinition
    existing: Existing = Existing.REFUSED


@dataclass(frozen=True, kw_only=True)
class DropFunction(Statement):
    function: TableName
    if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class DescribeFunction(Statement):
    function: TableName
    extended: bool = False


@dataclass(frozen=True, kw_only=True)
class RefreshFunction(Statement):
    function: TableName


@dataclass(frozen=True, kw_only=True)
class ShowFunctions(Statement):
    """SHOW [USER | SYSTEM | ALL] FUNCTIONS. `spark_sql` asks Spark for its own, without a schema."""

    scope: str
    spark_sql: str
    database: str | None = None
    pattern: str | None = None
