"""`*` among the arguments of functions in WHERE, SET, ON, WHEN and VALUES: it means the columns of the relations that
the expression sees.

The queries of changed rows read columns of the engine next to these, which Spark would take for `*`, too. So `*`, `t.*`
and `* EXCEPT (c)` are written as lists of columns before an expression is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.table.computed_columns import all_columns, computed_columns
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.statements.statement import Assignment
from tablestore_engine.sql.tokens.lexer import Token, edited, outside_queries, tokenize

_BEFORE_STARS = frozenset(["(", ",", "."])


@dataclass(frozen=True)
class Relation:
    """A relation in scope: its alias, its columns, and the database that may be in front of its name."""

    alias: str
    columns: tuple[str, ...]
    database: str | None = None

    def is_called(self, parts: Sequence[str]) -> bool:
        """Whether dotted names are those of the relation."""
        known = [[self.alias], *([] if self.database is None else [[self.database, self.alias]])]
        return [one.lower() for one in parts] in [[one.lower() for one in name] for name in known]


def target_relation(identifier: tuple[str, str], alias: str | None, schema: TableSchema) -> Relation:
    """The table that a statement changes."""
    names = all_columns(schema.field_names, computed_columns(schema.options), lambda one: one.name)
    database, name = identifier
    return Relation(alias or name, tuple(names), None if alias else database)


def without_stars(sql: str, relations: Sequence[Relation]) -> str:
    """The expression with the columns of the relations instead of each star that means them.

    Raises:
        SchemaError: EXCEPT names no column, or leaves none.
    """
    tokens = tokenize(sql)
    return edited(sql, [_edit(tokens, i, relations) for i in outside_queries(tokens) if _is_star(tokens, i, relations)])


def condition_without_stars(sql: str | None, relations: Sequence[Relation]) -> str | None:
    """The same for a condition, if there is one."""
    return None if sql is None else without_stars(sql, relations)


def assignments_without_stars(given: Sequence[Assignment], relations: Sequence[Relation]) -> tuple[Assignment, ...]:
    """The assignments with such values."""
    return tuple(replace(one, value_sql=without_stars(one.value_sql, relations)) for one in given)


def merge_without_stars(statement: Merge, target: Relation, alias: str, columns: Sequence[str]) -> Merge:
    """The MERGE with such expressions: each clause sees the target, the source with its alias and columns, or both."""
    unaliased = statement.unaliased_source
    source = Relation(alias, tuple(columns), None if unaliased is None else unaliased.database)
    return replace(
        statement,
        on_sql=without_stars(statement.on_sql, [target, source]),
        matched=_clauses(statement.matched, [target, source]),
        not_matched=_clauses(statement.not_matched, [source]),
        not_matched_by_source=_clauses(statement.not_matched_by_source, [target]),
    )


def _clauses(clauses: Sequence[MergeClause], relations: Sequence[Relation]) -> tuple[MergeClause, ...]:
    return tuple(
        replace(
            one,
            condition_sql=condition_without_stars(one.condition_sql, relations),
            assignments=assignments_without_stars(one.assignments, relations),
            values_sql=tuple(without_stars(value, relations) for value in one.values_sql),
        )
        for one in clauses
    )


def _is_star(tokens: Sequence[Token], i: int, relations: Sequence[Relation]) -> bool:
    if tokens[i].key != "*" or i == 0 or tokens[i - 1].key not in _BEFORE_STARS:
        return False
    if not any(one.key == "(" and one.partner > i for one in tokens[:i]):
        return False  # Spark says what is wrong with it
    if tokens[i - 1].key == ".":
        parts = _qualifier(tokens, i)
        return any(one.is_called(parts) for one in relations)  # else it is a struct, whose fields Spark knows
    counts = i > 1 and tokens[i - 2].key == "COUNT" and tokens[i - 1].key == "(" and tokens[i + 1].key == ")"
    return not counts


def _edit(tokens: Sequence[Token], i: int, relations: Sequence[Relation]) -> tuple[int, int, str]:
    """Start, end and replacement of a star with its qualifier and its EXCEPT."""
    parts = _qualifier(tokens, i)
    end = i
    dropped: list[str] = []
    if tokens[i + 1].key == "EXCEPT" and tokens[i + 2].key == "(":
        end = tokens[i + 2].partner
        dropped = list(_dropped(tokens, i + 3, end))
    seen = [one for one in relations if not parts or one.is_called(parts)]
    names = [Names(one.columns) for one in seen]
    missing = [one for one in dropped if not any(one in columns for columns in names)]
    found = [
        f"{quoted_name(one.alias)}.{quoted_name(name)}"
        for one, columns in zip(seen, names, strict=True)
        for name in one.columns
        if columns.key(name) not in map(columns.key, dropped)
    ]
    if missing or not found:
        known = ", ".join(name for columns in names for name in columns)
        what = f"names '{missing[0]}', which is no column" if missing else "leaves no column"
        raise SchemaError(
            f"EXCEPT of a star in an expression {what}. Columns: {known}.",
            hint="List columns of the table or source, without a qualifier.",
        )
    start = tokens[i - 2 * len(parts)].start
    return start, tokens[end].end, ", ".join(found)


def _qualifier(tokens: Sequence[Token], i: int) -> list[str]:
    """The dotted names in front of a token."""
    parts: list[str] = []
    while i >= 2 and tokens[i - 1].key == "." and tokens[i - 2].is_name:
        i -= 2
        parts.insert(0, tokens[i].name)
    return parts


def _dropped(tokens: Sequence[Token], start: int, end: int) -> Iterator[str]:
    """The items of a list in parentheses, which are names of columns."""
    first = start
    for i in range(start, end + 1):
        if i == end or tokens[i].key == ",":
            yield ".".join(one.name for one in tokens[first:i] if one.key != ".")
            first = i + 1
