"""The source of a MERGE, computed once, and what of the target its rows can change.

A source that gives the keys of the target, or whose target is large, is computed before the join: its keys exclude
files of the target, and of one with a key or deletion vectors only the rows that it may change are read, as long as
they are few (`lookup_rows`). A small source is held here; a larger one is kept by Spark, if the target is large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.predicate import Predicate, conjunction, disjunction
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import DataField, has_root
from tablestore_engine.spark.expressions.assigned_value import complete_columns
from tablestore_engine.spark.expressions.spark_types import columns_of
from tablestore_engine.spark.queries.collect import arrow_frame
from tablestore_engine.spark.queries.kept_rows import kept
from tablestore_engine.spark.read.lookup_rows import few_keys, keys_among, lookup_columns
from tablestore_engine.spark.read.merge_source_bounds import (
    bounds_of,
    comparable_columns,
    is_large,
    rows_with_values_of,
)
from tablestore_engine.spark.write.writer import Rows, few_rows
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.query.hidden_columns import hidden_names
from tablestore_engine.sql.query.predicate_reader import conjuncts
from tablestore_engine.sql.row_level.aggregates import merge_expressions
from tablestore_engine.sql.row_level.clauses.named_side import NamedSide
from tablestore_engine.sql.row_level.clauses.seen_columns import Columns, seen_by_merge
from tablestore_engine.sql.row_level.lookup_rows import rows_in, rows_where
from tablestore_engine.sql.row_level.merge_as_upsert import Pairs, equal_columns
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget, predicate_on, target_of
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.tokens.lexer import tokenize
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

SOURCE = "__tablestore_source"
_PADDED = frozenset(["CHAR"])
_SIMPLE = (
    T.BooleanType(), T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType(), T.FloatType(), T.DoubleType(),
    T.StringType(), T.BinaryType(), T.DateType(), T.TimestampType(), T.TimestampNTZType(),
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """The source rows of a MERGE: the query, and the view (quoted) to read its rows from, with these rows, which is
    made when it is first asked for; `held` if they are in memory.

    `matching` is SQL of the rows of the target, a view (quoted), that some row of the source may match. `pairs` are
    columns of the target and the source which are equal exactly in the rows that match, if that is known.
    """

    frame: DataFrame
    read: Callable[[], tuple[str, DataFrame]]
    held: pa.Table | None = None
    matching: Callable[[str], str] = lambda target: target
    pairs: Pairs = field(default_factory=list)

    @property
    def view(self) -> str:
        return self.read()[0]

    @property
    def rows(self) -> DataFrame:
        return self.read()[1]


@dataclass(frozen=True)
class _Merge:
    """A MERGE into a table; `others` are the predicates of its WHEN NOT MATCHED BY SOURCE clauses, and `hidden` the
    hidden columns that it names."""

    statement: Merge
    context: RowContext
    table: Table
    frames: Frames
    others: tuple[Predicate | None, ...]
    hidden: tuple[str, ...]

    def target(self, matched: Sequence[Predicate | None], others: Sequence[Predicate | None]) -> RowLevelTarget:
        """The target, without files that hold neither rows which fulfil all of `matched`, nor one of the others."""
        looked_at = [conjunction([p for p in matched if p is not None]), *others]
        known = [p for p in looked_at if p is not None]
        predicate = disjunction(known) if len(known) == len(looked_at) else None
        return self._target(predicate)

    def unmatched_target(self) -> RowLevelTarget:
        """The target, without files that WHEN NOT MATCHED BY SOURCE does not change."""
        known = [p for p in self.others if p is not None]
        return self._target(disjunction(known) if len(known) == len(self.others) else None)

    def on(self) -> Predicate | None:
        """The part of ON about the target alone."""
        return predicate_on(self.table, self.statement.target_alias, self.statement.on_sql, alone=False)

    def _target(self, predicate: Predicate | None) -> RowLevelTarget:
        alias = self.statement.target_alias
        intent = self.context.intent
        return target_of(self.frames, self.table, alias, predicate, intent, merging=True, hidden=self.hidden)


@contextmanager
def read_once(
    statement: Merge, context: RowContext, table: Table, frame: DataFrame, frames: Frames
) -> Iterator[tuple[RowLevelTarget, Source]]:
    """The target, without rows or files of which no row can change, and the source."""
    others = tuple(_of_unmatched(clause, table, statement) for clause in statement.not_matched_by_source)
    hidden = hidden_names([statement.on_sql, *(sql for _, sql in merge_expressions(statement))])
    merge = _Merge(statement, context, table, frames, others, hidden)
    on = merge.on()
    target = merge.target((on,), others)
    whole = any(clause.condition_sql is None for clause in statement.not_matched_by_source)
    may_look = (target.keyed or target.marks) and not (hidden or whole)
    looks = may_look and frames.looks_up
    large = is_large(target.plan)
    pairs: Pairs = []
    if looks or (may_look and frames.explaining) or (large and None not in others):
        pairs = equal_columns(statement, table.schema.field_names, frame.columns, target.resolver)
        pairs = comparable_columns(pairs, table.schema, frame)
    columns = [] if others or not may_look else [name for name, _ in lookup_columns(pairs, table.schema)]
    by_key = looks and bool(columns)
    named = tuple(columns) if frames.explaining else ()
    held = _collected(frames.rows(frame), table.schema) if pairs and (large or by_key) else None
    if not pairs or not (large or held is not None):
        yield replace(target, keys_of_source=named), Source(frame, _viewed(frames, lambda: frame))
        return
    with _computed(frame, frames, held) as source:
        found = _looked_up(merge, source, pairs, target) if looks else None
        if found is not None:
            if held is not None:
                frames.settled(held.nbytes)
            yield found, replace(source, pairs=_exact(statement, pairs, table.schema))
            return
        if not large:
            yield target, source
            return
        bounds = bounds_of(source.rows, pairs, table.schema)
        matching = partial(rows_with_values_of, source.view, pairs=pairs, bounds=bounds)
        yield (
            replace(merge.target((on, *bounds.predicates), others), keys_of_source=named),
            source if others else replace(source, matching=matching),
        )


@contextmanager
def _computed(frame: DataFrame, frames: Frames, held: pa.Table | None) -> Iterator[Source]:
    """The source, of which every row is computed once: those in memory, or kept by Spark."""
    if held is not None:
        made = lambda: arrow_frame(frames.spark, held, frame.schema)  # noqa: E731
        yield Source(frame, _viewed(frames, made), held)
        return
    with kept(frame) as rows:
        yield Source(frame, _viewed(frames, lambda: rows))


def _viewed(frames: Frames, rows: Callable[[], DataFrame]) -> Callable[[], tuple[str, DataFrame]]:
    """The view of rows and these, both made once."""

    @cache
    def read() -> tuple[str, DataFrame]:
        made = rows()
        return quoted_name(frames.register(SOURCE, made)), made

    return read


def _exact(statement: Merge, pairs: Pairs, schema: TableSchema) -> Pairs:
    """The pairs of columns if ON says that they are equal and nothing else; else none.

    None either of a table with columns that its rows do not have as Spark reads them.
    """
    tokens = tokenize(statement.on_sql)
    others = len(conjuncts(tokens, 0, len(tokens) - 1)) > len(pairs) or computed_columns(schema.options)
    return [] if others or any(has_root(f.type, _PADDED) for f in schema.fields) else pairs


def _collected(rows: Rows, schema: TableSchema) -> pa.Table | None:
    """All rows of a small query, as they can be given back to Spark."""
    frame = rows.frame
    simple = all(field.dataType in _SIMPLE or isinstance(field.dataType, T.DecimalType) for field in frame.schema)
    names = [name.lower() for name in frame.columns]
    if not simple or len(set(names)) < len(names):
        return None
    return few_rows(rows, schema)


def _looked_up(merge: _Merge, source: Source, pairs: Pairs, target: RowLevelTarget) -> RowLevelTarget | None:
    """The target with the rows that the MERGE may change, looked up by key; None if they are not."""
    given = complete_columns(source.frame.schema, merge.table.schema)
    seen = seen_by_merge(merge.statement, merge.table.schema, given)
    matched = _matched(merge, source, pairs, seen, merge.target((merge.on(),), ()) if merge.others else target)
    if matched is None or not merge.others:
        return matched
    bound = expressions_of(merge.statement, matched)
    clauses = merge.statement.not_matched_by_source
    conditions = [f"({bound(c.condition_sql)})" for c in clauses if c.condition_sql is not None]
    found = rows_where(merge.unmatched_target(), " OR ".join(conditions), lambda _: seen)
    return None if found is None else matched.and_rows_of(found)


def _matched(
    merge: _Merge, source: Source, pairs: Pairs, seen: Columns, target: RowLevelTarget
) -> RowLevelTarget | None:
    """The target with the rows that rows of the source may match, of which `seen` columns are read.

    Where ON gives no column of the key, the keys are those of the rows that have the values of the source.
    """
    schema = merge.table.schema
    by_key = lookup_columns(pairs, schema)
    if not by_key:
        bounds = bounds_of(source.rows, pairs, schema)
        target = merge.target((merge.on(), *bounds.predicates), ())
        return rows_in(target, rows_with_values_of(source.view, target.register(), pairs, bounds), lambda _: seen)
    if source.held is not None:
        keys = keys_among(source.held, by_key, schema)
    else:
        keys = few_keys(source.rows, by_key, schema)
    found = None if keys is None else target.of_keys(keys, seen)
    return None if found is None or found.rows is None else found


def source_query(statement: Merge) -> str:
    """The query of the source's rows."""
    columns = f"({', '.join(map(quoted_name, statement.source_columns))})" if statement.source_columns else ""
    return f"SELECT * FROM {statement.source_sql} AS {quoted_name(statement.source_alias or SOURCE)}{columns}"


def source_fields(source: DataFrame) -> tuple[DataField, ...]:
    """The source's columns. Raises UnsupportedTypeError for a type that tables do not have."""
    return tuple(DataField(i, name, kind) for i, (name, kind, _) in enumerate(columns_of(source.schema)))


def source_side(alias: str, source: DataFrame) -> NamedSide | None:
    """The source as expressions name it; None where one has a type that tables do not have, or
    is NULL without a type."""
    if "void" in source.schema.simpleString():
        return None
    try:
        return NamedSide(alias, source_fields(source))
    except UnsupportedTypeError:
        return None


def expressions_of(statement: Merge, target: RowLevelTarget) -> Callable[[str], str]:
    """The function that binds the tables in an expression of the statement."""
    frames = target.frames
    qualifiers = dict(target.qualifiers)
    if (name := statement.unaliased_source) is not None:
        qualifiers[(name.database or frames.database).lower(), name.name.lower()] = name.name
    return lambda sql: frames.expression(sql, qualifiers)


def _of_unmatched(clause: MergeClause, table: Table, statement: Merge) -> Predicate | None:
    """The condition of a WHEN NOT MATCHED BY SOURCE clause on its rows."""
    condition = clause.condition_sql
    return None if condition is None else predicate_on(table, statement.target_alias, condition)
