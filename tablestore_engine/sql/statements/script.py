"""Statements that hold statements, or expressions with queries: scripts, EXECUTE IMMEDIATE, SET VAR, functions."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import Statement


@dataclass(frozen=True, kw_only=True)
class Script(Statement):
    """BEGIN … END of plain statements, which are executed one after the other."""

    statements: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """Characters of a statement that are a query, or an expression that may hold subqueries."""

    start: int
    end: int
    is_query: bool


@dataclass(frozen=True, kw_only=True)
class QueriesInside(Statement):
    """A statement of Spark's with several queries inside: bind each of ``pieces``, and run it.

    ``kind`` is SCRIPT (one with variables or control flow), SET VARIABLE, CREATE FUNCTION, CREATE TEMPORARY FUNCTION.
    """

    kind: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, kw_only=True)
class ExecuteImmediate(Statement):
    """EXECUTE IMMEDIATE: ``text_sql`` gives the statement's text, ``arguments`` (expression, name) its parameters,
    and ``into_sql`` is the list of the variables that take its one row."""

    text_sql: str
    arguments: tuple[tuple[str, str | None], ...] = ()
    into_sql: str | None = None


@dataclass(frozen=True, kw_only=True)
class SetSessionOption(Statement):
    """SET table-storage.option [= value]: a default of the session for new tables; without a value, it is shown.

    ``option`` has no prefix, and is None for all of them.
    """

    option: str | None
    value: str | None = None


@dataclass(frozen=True, kw_only=True)
class ResetSession(Statement):
    """RESET of a setting of Spark; ``setting`` None is RESET alone: of all of them, and of the defaults for new
    tables."""

    setting: str | None


@dataclass(frozen=True, kw_only=True)
class ResetSessionOption(Statement):
    """RESET table-storage.option; ``option`` is None for all of them."""

    option: str | None
