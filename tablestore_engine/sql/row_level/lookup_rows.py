"""The rows of a table that a condition holds for: they are found first, and then looked up, by key or position.

Finding them takes a few columns: none of the table where the condition gives the keys (`key IN (SELECT …)`, constants),
else those of the condition and of the key, which pays for a large table only. Only then are the other columns read, of
these rows alone. A condition that holds for too many rows, or names hidden columns, is left to the query that changes
them. So are append tables without deletion vectors: their files are rewritten.
"""

from __future__ import annotations

from tablestore_engine.errors import TableStoreError
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.scan.file_skipping import certain_rows
from tablestore_engine.operation.scan.key_lookup import pinned_keys
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.spark.queries.session_variables import is_variable
from tablestore_engine.spark.read.lookup_rows import (
    MOST_KEYS,
    few_keys,
    few_keys_of,
    few_positions,
    key_names,
    lookup_columns,
)
from tablestore_engine.spark.read.merge_source_bounds import comparable_columns, is_large
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITION_COLUMN
from tablestore_engine.sql.row_level.clauses.seen_columns import Seen
from tablestore_engine.sql.row_level.in_subqueries import is_true, memberships
from tablestore_engine.sql.row_level.row_level_target import RowLevelTarget, owner_of
from tablestore_engine.sql.tokens.lexer import tokenize

_NOT_ALONE = frozenset(["AND", "OR", "(", "CASE"])
"""Tokens by which a condition is more than a single comparison."""


def looked_up(target: RowLevelTarget, where_sql: str | None, seen: Seen) -> tuple[RowLevelTarget, str | None]:
    """The target with the rows that WHERE may hold for, and what is left to test of them; or both as they are. Rows of
    a table with a key have values of the columns that are `seen`.

    Raises:
        TableStoreError: the condition cannot be evaluated.
    """
    known = target.keyed or target.marks
    if where_sql is None or not target.frames.looks_up or target.hidden or not known:
        return target, where_sql
    pinned = None if target.marks else pinned_keys(target.predicate, target.table.schema)
    if pinned is not None:
        return target.of_keys(pinned, seen(where_sql)), where_sql
    found = None if target.marks else _of_subquery(target, where_sql, seen)
    if found is None and is_large(target.plan):
        found = _of_condition(target, where_sql, seen)
    if found is None:
        return target, where_sql
    target.frames.settled(0)
    return found


def rows_where(target: RowLevelTarget, condition_sql: str, seen: Seen) -> RowLevelTarget | None:
    """The target with the rows for which a bound condition is true; None when they are too many."""
    return _with_rows_of(target, f"{target.register()} AS {quoted_name(target.alias)} WHERE {condition_sql}", seen)


def rows_in(target: RowLevelTarget, rows_sql: str, seen: Seen) -> RowLevelTarget | None:
    """The target with the rows of an item of a FROM list, which are rows of it; None when they are too many."""
    return _with_rows_of(target, rows_sql, seen)


def _of_subquery(target: RowLevelTarget, where_sql: str, seen: Seen) -> tuple[RowLevelTarget, str | None] | None:
    schema = target.table.schema
    for one in memberships(where_sql, owner_of(target.table, target.written_alias)):
        names = [schema.field(name).name for name in one.columns if schema.has_field(name)]
        keys = _keys_of(target, one.query_sql, names) if len(names) == len(one.columns) else None
        found = None if keys is None else target.of_keys(keys, seen(one.rest_sql))
        if found is not None and found.rows is not None:
            return found, None if is_true(one.rest_sql) else one.rest_sql
    return None


def _keys_of(target: RowLevelTarget, query_sql: str, names: list[str]) -> RowKeys | None:
    """The rows of a subquery as keys; None when it depends on the row of the target, or does not give keys."""
    schema = target.table.schema
    # In the statement such a name is a column of the target, if the subquery has none; alone, it is the variable.
    if any(is_variable(target.frames.spark, name) for name in _columns_named(schema, query_sql)):
        return None
    try:
        frame = target.frames.query(query_sql)
    except TableStoreError:
        return None  # it names a column of the target, or the statement fails with it, too
    if len(frame.columns) != len(names):
        return None
    numbered = frame.toDF(*(f"c{i}" for i in range(len(names))))
    pairs = [(name, f"c{i}") for i, name in enumerate(names)]
    if len(comparable_columns(pairs, schema, numbered)) < len(pairs) or len(lookup_columns(pairs, schema)) < len(pairs):
        return None
    return few_keys(numbered, pairs, schema)


def _columns_named(schema: TableSchema, query_sql: str) -> list[str]:
    """The columns of the target that a query names without a qualifier, if they are not others of the same name."""
    tokens = tokenize(query_sql)
    names = {one.name.lower() for i, one in enumerate(tokens) if one.is_name and not (i and tokens[i - 1].key == ".")}
    return [name for name in schema.field_names if name.lower() in names]


def _of_condition(target: RowLevelTarget, where_sql: str, seen: Seen) -> tuple[RowLevelTarget, None] | None:
    if _is_wide(target, where_sql):
        return None
    found = rows_where(target, target.expression(where_sql), seen)
    return None if found is None else (found, None)


def _is_wide(target: RowLevelTarget, where_sql: str) -> bool:
    """Whether WHERE is a comparison that certainly holds for more rows than are looked up."""
    one = target.predicate
    if not isinstance(one, Compare) or any(token.key in _NOT_ALONE for token in tokenize(where_sql)):
        return False
    return certain_rows(target.plan, one, target.table.state.schemas.load) > MOST_KEYS


def _with_rows_of(target: RowLevelTarget, rows_sql: str, seen: Seen) -> RowLevelTarget | None:
    schema = target.table.schema
    if target.marks:
        positions = few_positions(target.frames.run(f"SELECT {FILE_COLUMN}, {POSITION_COLUMN} FROM {rows_sql}"))
        at = None if positions is None else target.at(positions)
        return None if at is None or at.rows is None else at
    names = key_names(schema)
    if any(_is_inexact(schema.field(name).type) for name in names):
        return None
    keys = target.frames.run(f"SELECT {', '.join(map(quoted_name, names))} FROM {rows_sql}")
    few = few_keys_of(keys, schema)
    found = None if few is None else target.of_keys(few, seen(None))
    return None if found is None or found.rows is None else found


def _is_inexact(kind: object) -> bool:
    return isinstance(kind, AtomicType) and kind.root in ("FLOAT", "DOUBLE")
