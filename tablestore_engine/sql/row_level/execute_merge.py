"""Executing MERGE INTO: the target is joined with the source, and the changed rows are written (`row_level_target`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tablestore_engine.errors import DuplicateKeyError, SchemaError, SqlError
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome
from tablestore_engine.spark.dml.multiset_row_level import OLD_COLUMN
from tablestore_engine.spark.dml.row_level import ACTION_COLUMN
from tablestore_engine.spark.expressions.char_text import filled_sql, typed_schema
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.expressions.spark_types import columns_of
from tablestore_engine.spark.read.lookup_rows import fields_of, for_spark
from tablestore_engine.spark.read.merge_source_bounds import comparable_columns
from tablestore_engine.spark.read.paired_rows import MOST_PAIRED, PairedSide, from_pairs, paired
from tablestore_engine.spark.session.session_settings import session_resolver
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.aggregates import aggregates_refused, merge_expressions
from tablestore_engine.sql.row_level.assignments import assigned_values
from tablestore_engine.sql.row_level.merge_as_upsert import upsert_keys
from tablestore_engine.sql.row_level.merge_clauses import (
    CLAUSE_COLUMN,
    ClauseScope,
    ClauseScopes,
    Side,
    clause_rows,
    value_column,
)
from tablestore_engine.sql.row_level.merge_source import SOURCE, Source, expressions_of, read_once
from tablestore_engine.sql.row_level.row_level_target import (
    RowLevelTarget,
    check_engine,
    unread_target_of,
)
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.tokens.default_clause import is_default
from tablestore_engine.sql.write_statements.merge_schema import merged
from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_IN_TARGET = "__tablestore_in_target"
_IN_SOURCE = "__tablestore_in_source"
_NUMBER = "__tablestore_number"


@dataclass(frozen=True)
class _Seen:
    """The scope of the expressions in clauses of one kind: the rows of the FROM clause `from_sql`, which has the
    target, the source under its `alias`, or both."""

    target: RowLevelTarget
    source: DataFrame
    alias: str
    bound: Callable[[str], str]
    from_sql: str


def execute_merge(statement: Merge, context: RowContext) -> StatementResult:
    """MERGE INTO with all of Spark's clauses."""

    def attempt() -> WriteOutcome:
        with merged_rows(statement, context) as (target, changed):
            try:
                return target.apply(changed)
            except DuplicateKeyError as error:
                raise SqlError(
                    f"MERGE would write one key more than once. {error.message}",
                    hint="Make the source unique by the columns of the ON condition.",
                ) from error

    return result_of("MERGE", with_retry(attempt))


@contextmanager
def merged_rows(statement: Merge, context: RowContext) -> Iterator[tuple[RowLevelTarget, DataFrame]]:
    """The target of a MERGE, and the rows that it puts or removes, while its source is kept."""
    table = context.table(statement.table)
    clauses = (*statement.matched, *statement.not_matched_by_source)
    check_engine(table, "MERGE", deletes=any(c.action == "DELETE" for c in clauses))
    frames = context.frames()
    source = frames.query(f"SELECT * FROM {statement.source_sql}" + _source_alias(statement))
    table = _evolved(table, statement, source)
    upsert = _upsert(statement, context, table, source, frames)
    if upsert is not None:
        yield upsert
        return
    with read_once(statement, context, table, source, frames) as (target, kept_source):
        with aggregates_refused(frames, merge_expressions(statement)):
            changed = _changed_rows(statement, target, kept_source)
        yield target, _removed_once(statement, target, changed)


def _evolved(table: Table, statement: Merge, source: DataFrame) -> Table:
    """The table with the columns of the source that the clauses give it, if it takes new ones."""
    if not table.options.write_merge_schema or table.state.own_schema is not None:
        return table
    clauses = (*statement.matched, *statement.not_matched)
    named = Names([*(a.column for c in clauses for a in c.assignments), *(n for c in clauses for n in c.columns)])
    star = any(clause.star for clause in clauses)
    return merged(table, [one for one in columns_of(source.schema) if star or one[0] in named], source.sparkSession)


def _upsert(
    statement: Merge, context: RowContext, table: Table, source: DataFrame, frames: Frames
) -> tuple[RowLevelTarget, DataFrame] | None:
    """The target, unread, and the rows of the source, if to upsert them is all that the MERGE does; else None."""
    schema = table.schema
    resolver = session_resolver(source.sparkSession)
    pairs = upsert_keys(statement, schema.primary_keys, schema.field_names, source.columns, resolver)
    star = any(clause.star for clause in (*statement.matched, *statement.not_matched))
    given = Names(source.columns)
    if star and not all(name in given for name in schema.field_names):
        return None
    if not pairs or len(comparable_columns(pairs, schema, source)) < len(pairs):
        return None
    target = unread_target_of(frames, table, statement.target_alias, context.intent)
    alias = quoted_name(statement.source_alias or SOURCE)
    from_sql = f"{quoted_name(frames.register(SOURCE, source))} AS {alias}"
    (insert,) = statement.not_matched
    values = _clause_values(insert, _Seen(target, source, alias, expressions_of(statement, target), from_sql))
    columns = [f"CAST({values[n]} AS {target.sql_type(n)}) AS {quoted_name(n)}" for n in schema.field_names]
    with aggregates_refused(frames, merge_expressions(statement)):
        return target, frames.run(f"SELECT {', '.join(columns)}, 0 AS {ACTION_COLUMN} FROM {from_sql}")


def _removed_once(statement: Merge, target: RowLevelTarget, changed: DataFrame) -> DataFrame:
    """Whether the only clause is WHEN MATCHED THEN DELETE, for which several source rows may match a target row."""
    matched = statement.matched
    if len(matched) != 1 or matched[0].action != "DELETE" or matched[0].condition_sql is not None:
        return changed
    source_row = [c for c in target.source_columns() if c != OLD_COLUMN] or target.table.schema.primary_keys
    others = f"CASE WHEN {ACTION_COLUMN} = {DELETE_KIND} THEN -1L ELSE monotonically_increasing_id() END"
    numbered = changed.selectExpr("*", f"{others} AS {_NUMBER}")
    return numbered.dropDuplicates([*source_row, _NUMBER]).drop(_NUMBER)


def _changed_rows(statement: Merge, target: RowLevelTarget, read: Source) -> DataFrame:
    """The rows that a MERGE puts or removes, each with its action."""
    frames = target.frames
    source = read.frame
    source_names = _distinct_names(source)
    alias = quoted_name(statement.source_alias or SOURCE)
    bound = expressions_of(statement, target)

    def scope(state: str, clauses: tuple[MergeClause, ...], first: int, from_sql: str) -> ClauseScope:
        seen = _Seen(target, source, alias, bound, from_sql)
        conditions = [None if c.condition_sql is None else bound(c.condition_sql) for c in clauses]
        values = [_clause_values(c, seen) for c in clauses]
        return ClauseScope(state, first, tuple(conditions), tuple(values))

    kinds = (statement.matched, statement.not_matched, statement.not_matched_by_source)
    firsts = (0, len(kinds[0]), len(kinds[0]) + len(kinds[1]))
    fields = target.table.schema.fields
    both_sql, target_sql, source_sql = _joined(statement, target, read, bound)
    text = clause_rows(
        join_sql=both_sql,
        target=Side(quoted_name(target.alias), _IN_TARGET, tuple(f.name for f in fields), target.hidden),
        source=Side(
            alias,
            _IN_SOURCE,
            tuple(n for n, one in zip(source.columns, source_names, strict=True) if source_names.count(one) == 1),
        ),
        types=tuple(target.sql_type(f.name) for f in fields),
        extra=tuple(target.source_columns()),
        scopes=ClauseScopes(
            matched=scope(f"{_IN_TARGET} AND {_IN_SOURCE}", kinds[0], firsts[0], both_sql),
            not_matched=scope(f"{_IN_SOURCE} AND {_IN_TARGET} IS NULL", kinds[1], firsts[1], source_sql),
            not_matched_by_source=scope(f"{_IN_TARGET} AND {_IN_SOURCE} IS NULL", kinds[2], firsts[2], target_sql),
        ),
    )
    removes = ", ".join(str(i) for i, c in enumerate(itertools.chain(*kinds)) if c.action == "DELETE") or "-1"
    action = f"CASE WHEN {CLAUSE_COLUMN} IN ({removes}) THEN {DELETE_KIND} ELSE 0 END AS {ACTION_COLUMN}"
    columns = [f"{value_column(i)} AS {quoted_name(f.name)}" for i, f in enumerate(fields)]
    columns += target.source_columns()
    return frames.run(f"SELECT {', '.join(columns)}, {action} FROM ({text}) WHERE {CLAUSE_COLUMN} IS NOT NULL")


def _joined(
    statement: Merge, target: RowLevelTarget, read: Source, bound: Callable[[str], str]
) -> tuple[str, str, str]:
    """The FROM lists of both sides as ON joins them, of the target, and of the source."""
    own, alias = quoted_name(target.alias), quoted_name(statement.source_alias or SOURCE)
    kind = _join_kind(statement)
    rows = None if read.held is None or not read.pairs else target.rows
    if rows is not None and read.held is not None and rows.num_rows + read.held.num_rows <= MOST_PAIRED:
        fields = fields_of(rows, target.table.schema)
        one = PairedSide(for_spark(rows, fields), typed_schema(fields), own, _IN_TARGET)
        other = PairedSide(read.held, read.frame.schema, alias, _IN_SOURCE)
        pairs = paired(target.frames.spark, one, other, read.pairs, kind.lower())
        if pairs is not None:
            view = quoted_name(target.frames.register(SOURCE, pairs))
            return from_pairs(view, one, other), from_pairs(view, one), from_pairs(view, other)
    view = read.matching(target.register())
    both = (
        f"(SELECT *, true AS {_IN_TARGET} FROM {view}) AS {own} "
        f"{kind} JOIN (SELECT *, true AS {_IN_SOURCE} FROM {read.view}) AS {alias} "
        f"ON {bound(statement.on_sql)}"
    )
    return both, f"{view} AS {own}", f"{read.view} AS {alias}"


def _distinct_names(source: DataFrame) -> list[str]:
    """The names of the source's columns, of which two are equal where the session does not distinguish them."""
    if Names(source.columns).alike and session_resolver(source.sparkSession).distinguishes:
        return list(source.columns)
    return [name.lower() for name in source.columns]


def _source_alias(statement: Merge) -> str:
    if statement.source_alias is None:
        return "" if statement.source_name else f" AS {SOURCE}"
    columns = f"({', '.join(quoted_name(c) for c in statement.source_columns)})" if statement.source_columns else ""
    return f" AS {quoted_name(statement.source_alias)}{columns}"


def _join_kind(statement: Merge) -> str:
    if statement.not_matched and statement.not_matched_by_source:
        return "FULL OUTER"
    if statement.not_matched:
        return "RIGHT OUTER"
    return "LEFT OUTER" if statement.not_matched_by_source else "INNER"


def _clause_values(clause: MergeClause, seen: _Seen) -> dict[str, str]:
    """SQL of every column's value under one clause."""
    target = seen.target
    schema = target.table.schema
    own = {n: f"{quoted_name(target.alias)}.{quoted_name(n)}" for n in schema.field_names}
    if clause.action == "DELETE":
        return own
    if clause.action == "UPDATE":
        return {**own, **_updated(clause, seen)}
    if clause.star:
        return _star(seen, None)
    columns = clause.columns or schema.field_names
    if len(columns) != len(clause.values_sql):
        raise SchemaError(
            f"MERGE inserts {len(clause.values_sql)} values into {len(columns)} columns ({', '.join(columns)})."
        )
    values = [(schema.field(c), v) for c, v in zip(columns, clause.values_sql, strict=True)]
    for column in columns:
        target.resolver.check_spelling(column, schema.field(column).name)
    _check_listed_once(columns, schema)
    values = [(f, default_sql(f) if is_default(v) else seen.bound(v)) for f, v in values]
    given = target.fitted({f.name: (f, v) for f, v in values}, seen.from_sql)
    for field in schema.fields:
        if field.name not in given:
            if field.default_value is None and not field.type.nullable:
                raise SchemaError(f"Column '{field.name}' is NOT NULL, but MERGE inserts no value for it.")
            given[field.name] = default_sql(field)
    return given


def _check_listed_once(columns: Sequence[str], schema: TableSchema) -> None:
    listed = [schema.field(column).name for column in columns]
    twice = next((columns[at] for at, name in enumerate(listed) if name in listed[:at]), None)
    if twice is not None:
        raise SchemaError(f"INSERT lists column '{twice}' twice.")


def _updated(clause: MergeClause, seen: _Seen) -> dict[str, str]:
    target = seen.target
    schema = target.table.schema
    if clause.star:
        given = _star(seen, quoted_name(target.alias))
    else:
        given = assigned_values(target, clause.assignments, seen.bound, seen.from_sql)
    return {n: _same_key(target, n, v) if n in schema.primary_keys else v for n, v in given.items()}


def _same_key(target: RowLevelTarget, name: str, value: str) -> str:
    """SQL of a key column that a MERGE assigns, which is allowed if the key does not change."""
    own = f"{quoted_name(target.alias)}.{quoted_name(name)}"
    refused = (
        f"MERGE would change column '{name}', which belongs to the primary key, of a matched row. "
        "Delete the row and insert it under its new key, or match rows by the whole key."
    )
    same = f"CAST({value} AS {target.sql_type(name)}) <=> {own}"
    return f"CASE WHEN {same} THEN {own} ELSE raise_error({literal(refused)}) END"


def _star(seen: _Seen, kept: str | None) -> dict[str, str]:
    """SQL of every column's value under UPDATE SET * and INSERT *: the source's column of the same name.

    Where schemas evolve, a column that the source does not have keeps its value in the relation `kept`; without one, it
    gets its default.
    """
    table = seen.target.table
    schema = table.schema
    fields, names, resolver = seen.source.schema.fields, Names(seen.source.columns), seen.target.resolver
    given = {n: fields[at] for n in schema.field_names if (at := names.position(n)) is not None}
    for name, field in given.items():
        resolver.check_spelling(field.name, name)
    missing = [n for n in schema.field_names if n not in given]
    if missing and not (table.options.write_merge_schema or table.state.evolving):
        raise SchemaError(
            f"The source of MERGE has no column {', '.join(missing)}, which UPDATE SET * or INSERT * needs.",
            hint="Name the columns in the clause instead.",
        )
    own = {f.name: default_sql(f) if kept is None else f"{kept}.{quoted_name(f.name)}" for f in schema.fields}
    values = {name: f"{seen.alias}.{quoted_name(name)}" for name in given}
    return {f.name: own[f.name] for f in schema.fields if f.name in missing} | {
        f.name: filled_sql(seen.target.converted(values[f.name], given[f.name].dataType, f, f.name), f)
        for f in schema.fields
        if f.name not in missing
    }
