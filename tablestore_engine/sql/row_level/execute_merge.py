"""Executing MERGE INTO: the target is joined with the source, and the changed rows are written (`row_level_target`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

from tablestore_engine.errors import DuplicateKeyError, SchemaError, SqlError
from tablestore_engine.operation.transaction.transaction import with_retry
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.spark.dml.insert_overwrite import WriteOutcome
from tablestore_engine.spark.dml.multiset_row_level import OLD_COLUMN
from tablestore_engine.spark.dml.row_level import ACTION_COLUMN
from tablestore_engine.spark.expressions.assigned_value import complete_columns
from tablestore_engine.spark.expressions.char_text import filled_sql, typed_schema
from tablestore_engine.spark.expressions.default_value import default_sql
from tablestore_engine.spark.expressions.spark_types import columns_of, refuse_collations
from tablestore_engine.spark.read.lookup_rows import fields_of, for_spark
from tablestore_engine.spark.read.merge_source_bounds import one_key_if_equal
from tablestore_engine.spark.read.paired_rows import MOST_PAIRED, PairedRows, PairedSide, from_pairs, paired
from tablestore_engine.spark.session.session_settings import is_remote, session_resolver
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.row_level.aggregates import aggregates_refused, merge_expressions
from tablestore_engine.sql.row_level.assignments import assigned_values, merge_of_columns
from tablestore_engine.sql.row_level.clauses.held_clauses import HeldScope, HeldSide
from tablestore_engine.sql.row_level.clauses.merge_clauses import (
    CLAUSE_COLUMN,
    ClauseScope,
    ClauseScopes,
    Side,
    clause_rows,
    value_column,
)
from tablestore_engine.sql.row_level.clauses.named_side import NamedSide
from tablestore_engine.sql.row_level.clauses.stars import merge_without_stars, target_relation
from tablestore_engine.sql.row_level.clauses.taken_columns import assigned_columns, taken_columns
from tablestore_engine.sql.row_level.merge_as_upsert import upsert_keys
from tablestore_engine.sql.row_level.merge_source import (
    SOURCE,
    Source,
    expressions_of,
    read_once,
    source_fields,
    source_query,
    source_side,
)
from tablestore_engine.sql.row_level.row_level_target import (
    RowLevelTarget,
    check_engine,
    unread_target_of,
)
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.tokens.default_clause import is_default
from tablestore_engine.sql.write_statements.merge_schema import evolves, merged
from tablestore_engine.sql.write_statements.statement_context import RowContext, result_of
from tablestore_engine.table import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_IN_TARGET = "__tablestore_in_target"
_IN_SOURCE = "__tablestore_in_source"
_NUMBER = "__tablestore_number"
_BOTH, _TARGET_ONLY, _SOURCE_ONLY = _LISTS = ((True, True), (True, False), (False, True))


@dataclass(frozen=True)
class _Seen:
    """The scope of the expressions in clauses of one kind: the rows of the FROM clause that `from_sql` makes, which
    `has` the target, the source under its `alias`, or both."""

    target: RowLevelTarget
    source: DataFrame
    alias: str
    bound: Callable[[str], str]
    from_sql: Callable[[], str]
    has: tuple[bool, bool]

    @property
    def sides(self) -> list[NamedSide]:
        """The relations; none where the source has a type that only Spark has."""
        source = source_side(self.alias, self.source)
        return [] if source is None else [*compress((self.target.side, source), self.has)]


def execute_merge(statement: Merge, context: RowContext) -> StatementResult:
    """MERGE INTO with all of Spark's clauses."""

    def attempt() -> WriteOutcome:
        with _merged(statement, context) as (target, changed):
            try:
                held = changed.held()
                return target.apply(changed.frame()) if held is None else target.write_held(held)
            except DuplicateKeyError as error:
                raise SqlError(
                    f"MERGE would write one key more than once. {error.message}",
                    hint="Make the source unique by the columns of the ON condition.",
                ) from error

    return result_of("MERGE", with_retry(attempt))


@dataclass(frozen=True)
class _Changed:
    """The rows that a MERGE puts or removes: those of the query `frame` or, with the same answer, in memory."""

    frame: Callable[[], DataFrame]
    held: Callable[[], pa.Table | None] = lambda: None


@contextmanager
def merged_rows(statement: Merge, context: RowContext) -> Iterator[tuple[RowLevelTarget, DataFrame]]:
    """The target of a MERGE, and the rows that it puts or removes, while its source is kept."""
    with _merged(statement, context) as (target, changed):
        yield target, changed.frame()


@contextmanager
def _merged(statement: Merge, context: RowContext) -> Iterator[tuple[RowLevelTarget, _Changed]]:
    table, frames = context.table(statement.table), context.frames()
    statement = merge_of_columns(statement, table.schema)
    clauses = (*statement.matched, *statement.not_matched_by_source)
    check_engine(table, "MERGE", deletes=any(c.action == "DELETE" for c in clauses))
    frames.look_at(" ".join([statement.on_sql, *(sql for _, sql in merge_expressions(statement))]))
    source = frames.query(source_query(statement))
    relation = target_relation(table.identifier, statement.target_alias, table.schema)
    statement = merge_without_stars(statement, relation, statement.source_alias or SOURCE, source.columns)
    table = _evolved(table, statement, source)
    if (upsert := _upsert(statement, context, table, source, frames)) is not None:
        target, rows = upsert
        yield target, _Changed(lambda: rows)
        return
    with read_once(statement, context, table, source, frames) as (target, kept_source):
        with aggregates_refused(frames, merge_expressions(statement)):
            changed = _changed_rows(statement, target, kept_source)
        yield target, changed


def _evolved(table: Table, statement: Merge, source: DataFrame) -> Table:
    """The table with the columns of the source that the clauses give it, if it takes new ones."""
    if not table.options.write_merge_schema or table.state.own_schema is not None:
        return table
    named = assigned_columns(statement, source.columns)
    given = [one for one in source.schema if one.name in named]
    refuse_collations(one for one in given if not table.schema.has_field(one.name))
    taken = taken_columns(statement, table.schema, columns_of(given))
    return merged(table, taken, source.sparkSession)


def _upsert(
    statement: Merge, context: RowContext, table: Table, source: DataFrame, frames: Frames
) -> tuple[RowLevelTarget, DataFrame] | None:
    """The target, unread, and the rows of the source, if to upsert them is all that the MERGE does; else None."""
    schema = table.schema
    resolver = session_resolver(source.sparkSession)
    pairs = upsert_keys(statement, schema.primary_keys, schema.field_names, source.columns, resolver)
    star = any(clause.star for clause in (*statement.matched, *statement.not_matched))
    given = Names(complete_columns(source.schema, schema))
    if star and not all(name in given for name in schema.field_names):
        return None
    if not pairs or not one_key_if_equal(pairs, schema, source.schema):
        return None
    target = unread_target_of(frames, table, statement.target_alias, context.intent)
    alias = statement.source_alias or SOURCE
    from_sql = f"{quoted_name(frames.register(SOURCE, source))} AS {quoted_name(alias)}"
    (insert,) = statement.not_matched
    bound = expressions_of(statement, target)
    values = _clause_values(insert, _Seen(target, source, alias, bound, lambda: from_sql, _SOURCE_ONLY))
    columns = [f"CAST({values[n]} AS {target.sql_type(n)}) AS {quoted_name(n)}" for n in schema.field_names]
    with aggregates_refused(frames, merge_expressions(statement)):
        return target, frames.run(f"SELECT {', '.join(columns)}, 0 AS {ACTION_COLUMN} FROM {from_sql}")


def _removes_once(statement: Merge) -> bool:
    """Whether the only clause is WHEN MATCHED THEN DELETE, for which several source rows may match a target row."""
    matched = statement.matched
    return len(matched) == 1 and matched[0].action == "DELETE" and matched[0].condition_sql is None


def _removed_once(target: RowLevelTarget, changed: DataFrame) -> DataFrame:
    source_row = [c for c in target.source_columns() if c != OLD_COLUMN] or target.table.schema.primary_keys
    others = f"CASE WHEN {ACTION_COLUMN} = {DELETE_KIND} THEN -1L ELSE monotonically_increasing_id() END"
    numbered = changed.selectExpr("*", f"{others} AS {_NUMBER}")
    return numbered.dropDuplicates([*source_row, _NUMBER]).drop(_NUMBER)


def _changed_rows(statement: Merge, target: RowLevelTarget, read: Source) -> _Changed:
    """The rows that a MERGE puts or removes, each with its action."""
    source, alias = read.frame, statement.source_alias or SOURCE
    bound = expressions_of(statement, target)
    joined = _Joined(statement, target, read, bound)

    def scope(state: str, clauses: tuple[MergeClause, ...], first: int, has: tuple[bool, bool]) -> ClauseScope:
        seen = _Seen(target, source, alias, bound, lambda: joined.lists[_LISTS.index(has)], has)
        conditions = [None if c.condition_sql is None else bound(c.condition_sql) for c in clauses]
        values = [_clause_values(c, seen) for c in clauses]
        keys = () if clauses is statement.not_matched else tuple(target.table.schema.primary_keys)
        return ClauseScope(state, first, tuple(conditions), tuple(values), keys)

    kinds = (statement.matched, statement.not_matched, statement.not_matched_by_source)
    firsts = (0, len(kinds[0]), len(kinds[0]) + len(kinds[1]))
    scopes = ClauseScopes(
        matched=scope(f"{_IN_TARGET} AND {_IN_SOURCE}", kinds[0], firsts[0], _BOTH),
        not_matched=scope(f"{_IN_SOURCE} AND {_IN_TARGET} IS NULL", kinds[1], firsts[1], _SOURCE_ONLY),
        not_matched_by_source=scope(f"{_IN_TARGET} AND {_IN_SOURCE} IS NULL", kinds[2], firsts[2], _TARGET_ONLY),
    )

    def frame() -> DataFrame:
        with aggregates_refused(target.frames, merge_expressions(statement)):
            rows = _query(statement, target, scopes, joined)
            return _removed_once(target, rows) if _removes_once(statement) else rows

    return _Changed(frame, lambda: joined.changes(scopes))


def _query(statement: Merge, target: RowLevelTarget, scopes: ClauseScopes, joined: _Joined) -> DataFrame:
    """The query of the changed rows."""
    source_names = _distinct_names(joined.read.frame)
    fields = target.table.schema.fields
    text = clause_rows(
        join_sql=joined.lists[0],
        target=Side(quoted_name(target.alias), _IN_TARGET, tuple(f.name for f in fields), target.hidden),
        source=Side(
            joined.alias,
            _IN_SOURCE,
            tuple(
                n
                for n, one in zip(joined.read.frame.columns, source_names, strict=True)
                if source_names.count(one) == 1
            ),
        ),
        types=tuple(target.sql_type(f.name) for f in fields),
        extra=tuple(target.source_columns()),
        scopes=scopes,
        remote=is_remote(joined.read.frame),
    )
    clauses = (*statement.matched, *statement.not_matched, *statement.not_matched_by_source)
    removes = ", ".join(str(i) for i, c in enumerate(clauses) if c.action == "DELETE") or "-1"
    action = f"CASE WHEN {CLAUSE_COLUMN} IN ({removes}) THEN {DELETE_KIND} ELSE 0 END AS {ACTION_COLUMN}"
    columns = [f"{value_column(i)} AS {quoted_name(f.name)}" for i, f in enumerate(fields)]
    columns += target.source_columns()
    return target.frames.run(f"SELECT {', '.join(columns)}, {action} FROM ({text}) WHERE {CLAUSE_COLUMN} IS NOT NULL")


@dataclass(frozen=True)
class _Joined:
    """The target and the source of a MERGE as ON joins them."""

    statement: Merge
    target: RowLevelTarget
    read: Source
    bound: Callable[[str], str]

    @property
    def alias(self) -> str:
        """The source's name in the query, quoted."""
        return quoted_name(self.statement.source_alias or SOURCE)

    @cached_property
    def lists(self) -> tuple[str, str, str]:
        """The FROM lists of both sides as ON joins them, of the target, and of the source."""
        target, read = self.target, self.read
        own, alias = quoted_name(target.alias), self.alias
        pairs, rows, held = self._pairs, target.rows, read.held
        if pairs is not None and rows is not None and held is not None and rows.num_rows + held.num_rows <= MOST_PAIRED:
            fields = fields_of(rows, target.table.schema)
            one = PairedSide(for_spark(rows, fields), typed_schema(fields), own, _IN_TARGET)
            other = PairedSide(held, read.frame.schema, alias, _IN_SOURCE)
            view = quoted_name(target.frames.register(SOURCE, pairs.frame(target.frames.spark, one, other)))
            return from_pairs(view, one, other), from_pairs(view, one), from_pairs(view, other)
        view = read.matching(target.register())
        both = (
            f"(SELECT *, true AS {_IN_TARGET} FROM {view}) AS {own} "
            f"{_join_kind(self.statement)} JOIN (SELECT *, true AS {_IN_SOURCE} FROM {read.view}) AS {alias} "
            f"ON {self.bound(self.statement.on_sql)}"
        )
        return both, f"{view} AS {own}", f"{read.view} AS {alias}"

    @cached_property
    def _pairs(self) -> PairedRows | None:
        """The pairs of rows, if both sides are in memory and Arrow can compare them."""
        rows, read = self.target.rows, self.read
        if rows is None or read.held is None or not read.pairs:
            return None
        return paired(rows, read.held, read.pairs, _join_kind(self.statement).lower())

    def changes(self, scopes: ClauseScopes) -> pa.Table | None:
        """The changed rows, in memory; None where that takes a query."""
        statement, pairs, held = self.statement, self._pairs, self.read.held
        if pairs is None or held is None or self.target.rows is None:
            return None
        target = HeldSide(self.target.alias, self.target.side.fields, self.target.rows)
        source = HeldSide(statement.source_alias or SOURCE, source_fields(self.read.frame), held)
        (own, other), (alone, new) = pairs.matched(), pairs.unmatched()
        seen = (
            (scopes.matched, statement.matched, ((target, own), (source, other))),
            (scopes.not_matched, statement.not_matched, ((source, new),)),
            (scopes.not_matched_by_source, statement.not_matched_by_source, ((target, alone),)),
        )
        once = _removes_once(statement)
        return self.target.held_changes(
            [HeldScope(scope, sides, tuple(c.action == "DELETE" for c in of), once) for scope, of, sides in seen]
        )


def _distinct_names(source: DataFrame) -> list[str]:
    """The names of the source's columns, of which two are equal where the session does not distinguish them."""
    if Names(source.columns).alike and session_resolver(source.sparkSession).distinguishes:
        return list(source.columns)
    return [name.lower() for name in source.columns]


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
    given = target.fitted({f.name: (f, v) for f, v in values}, seen.from_sql, seen.sides)
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
    if clause.star:
        return _star(seen, quoted_name(seen.target.alias))
    return assigned_values(seen.target, clause.assignments, seen.bound, seen.from_sql, seen.sides)


def _star(seen: _Seen, kept: str | None) -> dict[str, str]:
    """SQL of every column's value under UPDATE SET * and INSERT *: the source's column of the same name.

    Where schemas evolve, a column or field that the source does not have keeps its value in the relation `kept`;
    without one, a column gets its default and a field is null.
    """
    table = seen.target.table
    schema = table.schema
    fields, names, resolver = seen.source.schema.fields, Names(seen.source.columns), seen.target.resolver
    given = {n: fields[at] for n in schema.field_names if (at := names.position(n)) is not None}
    for name, field in given.items():
        resolver.check_spelling(field.name, name)
        names.check_once(name, "The source of MERGE")
    missing = [n for n in schema.field_names if n not in given]
    if missing and not evolves(table):
        raise SchemaError(
            f"The source of MERGE has no column {', '.join(missing)}, which UPDATE SET * or INSERT * needs.",
            hint="Name the columns in the clause instead.",
        )
    own = {f.name: None if kept is None else f"{kept}.{quoted_name(f.name)}" for f in schema.fields}
    values = {name: f"{quoted_name(seen.alias)}.{quoted_name(name)}" for name in given}
    return {f.name: own[f.name] or default_sql(f) for f in schema.fields if f.name in missing} | {
        f.name: filled_sql(seen.target.converted(values[f.name], given[f.name].dataType, f, f.name, own[f.name]), f)
        for f in schema.fields
        if f.name not in missing
    }
