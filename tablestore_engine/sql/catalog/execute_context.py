"""The values that executors of catalog statements share: context and results.

Invariant: nothing here or in the other ``execute_*`` modules of the catalog needs Spark. Temporary views are not known
here: a caller with a session checks them first, and says how they are listed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tablestore_engine.catalog import Catalog, View
from tablestore_engine.errors import SqlError
from tablestore_engine.options import notes_of
from tablestore_engine.schema.table.check_constraints import refuse_unchecked, without_checks
from tablestore_engine.schema.table.computed_columns import other_options
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import ANY_CASE, Resolver
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.statement import TableName
from tablestore_engine.sql.statements.view import GLOBAL_TEMPORARY
from tablestore_engine.storage import clock
from tablestore_engine.table import Table

_log = logging.getLogger(__name__)
_KEPT_TEXTS = 1_000

SESSION_PREFIXES = ("table-storage.", "tablestore.")

ListedViews = Callable[[str | None, bool], Sequence[tuple[str, str, bool, str]]]
"""From a schema that is listed, and whether its objects are described, to its temporary views: schema, name, true and
description of each."""


@dataclass(frozen=True)
class CatalogContext:
    """The context of a statement.

    `database` is the current one. `session_options` are defaults for the options of new tables, with or without one
    of the `SESSION_PREFIXES`. `now_millis` is the creation time of new objects.
    """

    catalog: Catalog
    database: str = "default"
    session_options: Mapping[str, str] = field(default_factory=dict)
    now_millis: Callable[[], int] = clock.now_millis
    resolver: Resolver = ANY_CASE  # whether the case of a name counts in the session
    temporary_views: ListedViews = lambda *_: []

    def identifier(self, name: TableName) -> tuple[str, str]:
        """Database and name that a name in a statement means."""
        return name.database or self.database, name.name

    def kind(self, name: TableName) -> str:
        """`table` or `view`. Raises DatabaseNotFound, TableNotFound, NotAManagedTableError."""
        identifier = self.identifier(name)
        found = self.catalog.object_kind(*identifier)
        if found is None:
            self.catalog.load_table(*identifier)  # raises the right error, with a hint at similar names
        return found or "table"

    def table(self, name: TableName, what: str) -> Table:
        """The table of a statement of the verb `what`. Raises SqlError when it is a view."""
        database, bare = self.identifier(name)
        if self.kind(name) == "view":
            raise SqlError(f"'{database}.{bare}' is a view, and {what} is for tables.", hint=_instead(what))
        return self.catalog.load_table(database, bare)

    def view(self, name: TableName, what: str) -> View:
        """The view of a statement of the verb `what`. Raises SqlError when it is a table."""
        database, bare = self.identifier(name)
        if self.kind(name) == "table":
            raise SqlError(f"'{database}.{bare}' is a table, and {what} is for views.", hint=_instead(what))
        return self.catalog.load_view(database, bare)

    def table_defaults(self, *, bucketed: bool) -> dict[str, str]:
        """The session's options for a new table, without prefixes.

        `bucketed`: the table has columns to hash; only then a default number of buckets applies.
        """
        return table_defaults(self.session_options, bucketed=bucketed)


def is_global_temporary(schema: str | None, catalog: Catalog) -> bool:
    """Whether a schema is that of Spark's global temporary views, and none of the warehouse."""
    return (schema or "").lower() == GLOBAL_TEMPORARY and not catalog.database_exists(GLOBAL_TEMPORARY)


def without_prefix(options: Mapping[str, str]) -> dict[str, str]:
    """Options of a session by the names that they have in a table."""
    found = {}
    for key, value in options.items():
        prefix = next((one for one in SESSION_PREFIXES if key.startswith(one)), "")
        found[key[len(prefix) :]] = value
    return found


def table_defaults(session_options: Mapping[str, str], *, bucketed: bool) -> dict[str, str]:
    """See `CatalogContext.table_defaults`. Raises OptionError for a CHECK constraint, which no session has."""
    found = without_prefix(session_options)
    for key in found:
        refuse_unchecked(key)
    if not bucketed:
        found.pop("bucket", None)
    return found


def is_bucketed(primary_key: Sequence[str], options: Mapping[str, str]) -> bool:
    """Whether a new table has columns to hash, so that a default number of buckets applies."""
    return bool(primary_key or options.get("primary-key") or options.get("bucket-key"))


def say_notes(options: Mapping[str, str], schema: TableSchema) -> None:
    """Log which of the options that a statement gives a table have no effect; a process says the same once.

    Those that keep computed columns, watermarks and CHECK constraints are no options that anybody set.
    """
    for note in notes_of(other_options(without_checks(options)), schema):
        _say_once(note)


@lru_cache(_KEPT_TEXTS)
def _say_once(text: str) -> None:
    _log.warning("%s", text)


def done(kind: str) -> StatementResult:
    """The result of a statement without rows."""
    return StatementResult(kind)


def answer(kind: str, columns: Mapping[str, str], rows: Iterable[tuple[Any, ...]]) -> StatementResult:
    """A result of rows; `columns` maps names to Spark's type texts."""
    return StatementResult(kind, columns=tuple(columns), types=tuple(columns.values()), rows=list(rows))


def utc(millis: int) -> str:
    """`2024-01-31 12:00:00 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(millis / 1000))


def _instead(what: str) -> str | None:
    verb, _, kind = what.partition(" ")
    other = {"TABLE": "VIEW", "VIEW": "TABLE"}.get(kind)
    return f"Use {verb} {other}." if other and verb in ("DROP", "ALTER") else None
