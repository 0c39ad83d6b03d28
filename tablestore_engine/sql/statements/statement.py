"""The request of a SQL text: one frozen value per kind of statement.

Vocabulary: a field that ends in ``_sql`` is the user's own text, sliced and never re-generated; a
``TableName`` is a database, or None for the current one, and a name; every statement keeps its whole
``sql``. Statements hold the request, not whether it is possible: they know no catalog.

Names keep the user's case; lookups ignore case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tablestore_engine.schema.table.predicate import Constant


class Existing(Enum):
    """Treatment of an object of the same name by a statement that creates one."""

    REFUSED = "CREATE"
    KEPT = "CREATE IF NOT EXISTS"
    REPLACED = "CREATE OR REPLACE"
    REQUIRED = "REPLACE"
    """The object is replaced, and there must be one."""

    @property
    def is_replaced(self) -> bool:
        return self in (Existing.REPLACED, Existing.REQUIRED)


@dataclass(frozen=True)
class TableName:
    """A table or view by name; ``database`` is None when the text names none."""

    database: str | None
    name: str

    def __str__(self) -> str:
        return self.name if self.database is None else f"{self.database}.{self.name}"


@dataclass(frozen=True)
class ColumnDefinition:
    """A column of CREATE TABLE or ADD COLUMNS. ``type_sql`` is Spark's type text without NOT NULL, or empty for
    a computed column."""

    name: str
    type_sql: str
    nullable: bool = True
    comment: str | None = None
    default_sql: str | None = None
    computed_sql: str | None = None
    first: bool = False
    after: str | None = None
    checks: tuple[tuple[str, str], ...] = ()  # CHECK constraints: the name, which may be empty, and the condition


@dataclass(frozen=True)
class Assignment:
    """``column = value`` of UPDATE and MERGE; the column's qualifier is already taken off.

    ``path`` leads to a field of a struct: ``("a", "b")`` for ``column.a.b``. ``value_sql`` may be DEFAULT.
    ``qualifier`` is the name of the table, or its alias, that was in front of the column: a column may have the same
    name.
    """

    column: str
    value_sql: str
    path: tuple[str, ...] = ()
    qualifier: str | None = None


@dataclass(frozen=True)
class PartitionValue:
    """One entry of PARTITION (…): static with a value, dynamic when ``value_sql`` is None."""

    column: str
    value_sql: str | None


PartitionSpec = tuple[PartitionValue, ...]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Any statement; ``sql`` is the whole text as the user sent it."""

    sql: str


@dataclass(frozen=True, kw_only=True)
class Query(Statement):
    """A query; ``query_sql`` is the text without surrounding comments and semicolons."""

    query_sql: str


@dataclass(frozen=True, kw_only=True)
class QueryInside(Statement):
    """A statement of Spark's around a query: bind ``query_sql`` and run ``prefix + bound``.

    ``kind`` is EXPLAIN, DESCRIBE QUERY, CACHE TABLE, INSERT DIRECTORY.
    """

    kind: str
    prefix: str
    query_sql: str


@dataclass(frozen=True, kw_only=True)
class Explain(Statement):
    """EXPLAIN of something that is not a query."""

    mode: str | None
    statement: Statement


@dataclass(frozen=True, kw_only=True)
class PassThrough(Statement):
    """A statement that is passed to Spark unchanged."""


@dataclass(frozen=True, kw_only=True)
class Noop(Statement):
    """BEGIN, COMMIT, ROLLBACK, or no statement at all: accepted, without effect."""


PROCEDURE_SCHEMAS = ("sys", "system")
"""The names of the schema that procedures are in."""


@dataclass(frozen=True, kw_only=True)
class Call(Statement):
    """CALL sys.procedure(…); ``procedure`` comes without ``sys.``, lower-cased, as do the names."""

    procedure: str
    positional: tuple[Constant | None, ...] = ()
    named: Mapping[str, Constant | None]
