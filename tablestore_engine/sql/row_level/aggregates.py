"""Aggregate functions in SET, WHEN, ON, VALUES and WHERE, where each row is computed by itself.

Spark refuses them in the query that computes the changed rows, in words about that query. Only then the clauses are
searched, and Spark is asked which of the functions called in them are aggregate functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tablestore_engine.errors import SqlError, TableStoreError
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.statements.row import Merge, MergeClause
from tablestore_engine.sql.statements.statement import Assignment
from tablestore_engine.sql.tokens.lexer import behind, outside_queries, tokenize

Clause = tuple[str, str]
"""The word of a clause, such as SET, and its text."""

_AGGREGATES: Final = ".aggregate."  # in the names of Spark's classes


def called_functions(sql: str) -> list[str]:
    """The functions that an expression calls, without those in its subqueries and those over a window."""
    tokens = tokenize(sql)
    calls = (i for i in outside_queries(tokens) if tokens[i].is_name and tokens[i + 1].key == "(")
    return [tokens[i].name for i in calls if tokens[min(behind(tokens, i + 1), len(tokens) - 1)].key != "OVER"]


def set_clauses(assignments: Iterable[Assignment]) -> list[Clause]:
    """The clauses SET of assignments."""
    return [("SET", f"{one.column} = {one.value_sql}") for one in assignments]


def merge_expressions(statement: Merge) -> list[Clause]:
    """The clauses of a MERGE that hold expressions."""
    clauses = (*statement.matched, *statement.not_matched, *statement.not_matched_by_source)
    return [("ON", statement.on_sql), *(one for clause in clauses for one in _expressions(clause))]


def _expressions(clause: MergeClause) -> list[Clause]:
    condition = [] if clause.condition_sql is None else [("WHEN", clause.condition_sql)]
    return [*condition, *set_clauses(clause.assignments), *(("VALUES", value) for value in clause.values_sql)]


@contextmanager
def aggregates_refused(frames: Frames, clauses: Sequence[Clause]) -> Iterator[None]:
    """Say in which clause an aggregate function is, when Spark refuses the changed rows because of one."""
    try:
        yield
    except SqlError as error:
        for word, text in clauses:
            name = next((name for name in called_functions(text) if _is_aggregate(frames, name)), None)
            if name is not None:
                raise SqlError(
                    f"Aggregate functions such as {name} are not allowed in {word}: {text}",
                    hint="Aggregate in a subquery, or in the source of the MERGE.",
                ) from error
        raise


def _is_aggregate(frames: Frames, name: str) -> bool:
    try:
        rows = frames.run(f"DESCRIBE FUNCTION {quoted_name(name)}").collect()
    except TableStoreError:
        return False
    return any(row[0].startswith("Class: ") and _AGGREGATES in row[0] for row in rows)
