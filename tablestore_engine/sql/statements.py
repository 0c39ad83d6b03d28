"""What a SQL text asks for: one frozen value per kind of statement.

Vocabulary: a field that ends in ``_sql`` is the user's own text, sliced and never re-generated; a
``TableName`` is a database, or None for the current one, and a name; every statement keeps its whole
``sql``. Statements say what was asked, not whether it is possible: they know no catalog.

Names keep the user's case; whoever looks them up compares without case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.schema.predicate import Constant


@dataclass(frozen=True)
class TableName:
    """A table or view by name; ``database`` is None when the text names none."""

    database: str | None
    name: str

    def __str__(self) -> str:
        return self.name if self.database is None else f"{self.database}.{self.name}"


@dataclass(frozen=True)
class ColumnDefinition:
    """A column of CREATE TABLE or ADD COLUMNS. ``type_sql`` is Spark's type text without NOT NULL."""

    name: str
    type_sql: str
    nullable: bool = True
    comment: str | None = None
    default_sql: str | None = None
    first: bool = False
    after: str | None = None


@dataclass(frozen=True)
class Assignment:
    """``column = value`` of UPDATE and MERGE; the column's qualifier is already taken off."""

    column: str
    value_sql: str


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


# -- queries, and what Spark runs ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Query(Statement):
    """A query; ``query_sql`` is the text without what stands before and behind it (comments, semicolons)."""

    query_sql: str


@dataclass(frozen=True, kw_only=True)
class QueryInside(Statement):
    """A statement of Spark's around a query: bind ``query_sql`` and run ``prefix + bound + suffix``.

    ``kind`` is EXPLAIN, DESCRIBE QUERY, CACHE TABLE, SET VARIABLE, INSERT DIRECTORY.
    """

    kind: str
    prefix: str
    query_sql: str
    suffix: str = ""


@dataclass(frozen=True, kw_only=True)
class Explain(Statement):
    """EXPLAIN of something that is not a query."""

    mode: str | None
    statement: Statement


@dataclass(frozen=True, kw_only=True)
class PassThrough(Statement):
    """Everything that Spark shall get untouched."""


@dataclass(frozen=True, kw_only=True)
class Noop(Statement):
    """BEGIN, COMMIT, ROLLBACK, or no statement at all: accepted, without effect. ``what`` is its verb."""

    what: str


# -- schemas ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CreateSchema(Statement):
    database: str
    if_not_exists: bool = False
    comment: str | None = None
    properties: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class DropSchema(Statement):
    database: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True, kw_only=True)
class Use(Statement):
    database: str


# -- tables ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CreateTable(Statement):
    """CREATE [OR REPLACE] TABLE with columns. Columns that PARTITIONED BY declares are the last ones."""

    table: TableName
    columns: tuple[ColumnDefinition, ...]
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, str]
    if_not_exists: bool = False
    replace: bool = False
    must_exist: bool = False  # REPLACE TABLE without CREATE OR


@dataclass(frozen=True, kw_only=True)
class CreateTableAs(Statement):
    """CREATE [OR REPLACE] TABLE … AS query, whose columns come from the query."""

    table: TableName
    query_sql: str
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    comment: str | None = None
    options: Mapping[str, str]
    if_not_exists: bool = False
    replace: bool = False
    must_exist: bool = False


@dataclass(frozen=True, kw_only=True)
class CreateTableLike(Statement):
    table: TableName
    source: TableName
    options: Mapping[str, str]
    if_not_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class DropTable(Statement):
    table: TableName
    if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class Truncate(Statement):
    table: TableName
    partition: PartitionSpec = ()


@dataclass(frozen=True, kw_only=True)
class RenameTable(Statement):
    """ALTER TABLE or VIEW … RENAME TO. ``new.database`` is None when the text names none: stay there."""

    table: TableName
    new: TableName
    is_view: bool = False


@dataclass(frozen=True, kw_only=True)
class AddColumns(Statement):
    table: TableName
    columns: tuple[ColumnDefinition, ...]
    if_not_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class DropColumns(Statement):
    table: TableName
    columns: tuple[str, ...]
    if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class RenameColumn(Statement):
    table: TableName
    column: str
    new: str


@dataclass(frozen=True, kw_only=True)
class AlterColumn(Statement):
    """One change of one column; exactly one of the fields after ``column`` is set. COMMENT is CommentOn."""

    table: TableName
    column: str
    type_sql: str | None = None
    nullable: bool | None = None
    first: bool = False
    after: str | None = None


@dataclass(frozen=True, kw_only=True)
class SetTableProperties(Statement):
    table: TableName
    properties: Mapping[str, str]
    is_view: bool = False


@dataclass(frozen=True, kw_only=True)
class UnsetTableProperties(Statement):
    table: TableName
    keys: tuple[str, ...]
    if_exists: bool = False
    is_view: bool = False


@dataclass(frozen=True, kw_only=True)
class CommentOn(Statement):
    """COMMENT ON, ALTER TABLE … SET COMMENT, ALTER COLUMN … COMMENT. ``kind`` is TABLE, VIEW, COLUMN or
    SCHEMA; ``table`` is None for a schema, whose name is ``database``; ``comment`` None removes it."""

    kind: str
    table: TableName | None = None
    column: str | None = None
    database: str | None = None
    comment: str | None


@dataclass(frozen=True, kw_only=True)
class AlterUnsupported(Statement):
    """An ALTER TABLE or VIEW that managed tables do not have; ``what`` is the clause's head."""

    table: TableName
    what: str


@dataclass(frozen=True, kw_only=True)
class Compact(Statement):
    """ALTER TABLE … COMPACT."""

    table: TableName
    partition: PartitionSpec = ()


@dataclass(frozen=True, kw_only=True)
class AnalyzeTable(Statement):
    """ANALYZE TABLE … COMPUTE STATISTICS. ``columns`` is None without FOR COLUMNS, () for ALL COLUMNS."""

    table: TableName
    partition: PartitionSpec = ()
    columns: tuple[str, ...] | None = None
    no_scan: bool = False


@dataclass(frozen=True, kw_only=True)
class RefreshTable(Statement):
    table: TableName


@dataclass(frozen=True, kw_only=True)
class Call(Statement):
    """CALL sys.procedure(…); ``procedure`` comes without ``sys.``, lower-cased, as do the names."""

    procedure: str
    positional: tuple[Constant | None, ...] = ()
    named: Mapping[str, Constant | None]


# -- rows ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class InsertInto(Statement):
    table: TableName
    columns: tuple[str, ...] = ()
    partition: PartitionSpec = ()
    query_sql: str
    by_name: bool = False


@dataclass(frozen=True, kw_only=True)
class InsertOverwrite(Statement):
    """INSERT OVERWRITE, or INSERT INTO … REPLACE WHERE when ``replace_where_sql`` is set.

    ``partition`` empty overwrites the table, or the partitions that appear in the query, as the session's
    partition overwrite mode says; with entries, their static part bounds what is overwritten.
    """

    table: TableName
    columns: tuple[str, ...] = ()
    partition: PartitionSpec = ()
    if_not_exists: bool = False
    query_sql: str
    by_name: bool = False
    replace_where_sql: str | None = None


@dataclass(frozen=True, kw_only=True)
class Update(Statement):
    table: TableName
    alias: str | None = None
    assignments: tuple[Assignment, ...]
    where_sql: str | None = None


@dataclass(frozen=True, kw_only=True)
class Delete(Statement):
    table: TableName
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
class Merge(Statement):
    """MERGE INTO. ``SELECT * FROM source_sql AS source_alias`` reads the source; ``source_sql`` is a table's
    name or a query in parentheses. ``source_name`` is set for a table, whose name is also the alias when the
    text has none."""

    target: TableName
    target_alias: str | None = None
    source_sql: str
    source_name: TableName | None = None
    source_alias: str | None = None
    source_columns: tuple[str, ...] = ()
    on_sql: str
    matched: tuple[MergeClause, ...] = ()
    not_matched: tuple[MergeClause, ...] = ()
    not_matched_by_source: tuple[MergeClause, ...] = ()
    schema_evolution: bool = False


# -- views -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CreateView(Statement):
    """CREATE [OR REPLACE] [TEMPORARY] VIEW … AS. ``columns`` are (name, comment). For a temporary view,
    Spark gets ``prefix + bound query``; ``must_exist`` is ALTER VIEW … AS."""

    view: TableName
    query_sql: str
    columns: tuple[tuple[str, str | None], ...] = ()
    comment: str | None = None
    options: Mapping[str, str]
    replace: bool = False
    if_not_exists: bool = False
    temporary: bool = False
    must_exist: bool = False
    prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class DropView(Statement):
    view: TableName
    if_exists: bool = False


# -- looking around --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ShowSchemas(Statement):
    like: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowCurrentSchema(Statement):
    pass


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
class Describe(Statement):
    """DESCRIBE TABLE; ``column`` is a dotted column name; ``as_json`` for AS JSON."""

    table: TableName
    extended: bool = False
    column: str | None = None
    partition: PartitionSpec = ()
    as_json: bool = False


@dataclass(frozen=True, kw_only=True)
class DescribeSchema(Statement):
    database: str
    extended: bool = False
