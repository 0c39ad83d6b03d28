"""The functions of the warehouse that the texts of one statement call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import SqlError
from tablestore_engine.metadata.warehouse.function import SQL, Function
from tablestore_engine.schema.types.sql_literals import literal, quoted_name
from tablestore_engine.spark.queries.session_functions import is_session_function
from tablestore_engine.sql.query.bind import BoundQuery
from tablestore_engine.sql.query.function_calls import calls_of_current_names, function_calls, inlined
from tablestore_engine.sql.query_structure.values_with_calls import selects_for_values
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS
from tablestore_engine.sql.tokens.lexer import edited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MAX_INLINED = 100


class CalledFunctions:
    """Finds functions by the calls of them. The names of a database's functions are listed once.

    `current` is the current database, which Spark does not know.
    """

    def __init__(self, spark: SparkSession, catalog: Catalog, current: str) -> None:
        self._spark = spark
        self._catalog = catalog
        self._current = current
        self._names: dict[str, frozenset[str]] = {}  # by database

    def renamed(self, bound: BoundQuery, database: str, session_name: Callable[[Function], str]) -> BoundQuery:
        """A bound text in which functions of the warehouse are called by their names in the session."""
        edits = [
            (call.start, call.end, quoted_name(session_name(function)))
            for call in function_calls(bound.source)
            if (function := self._function(call.parts, database)) is not None
        ]
        edits += selects_for_values(bound.source, [start for start, _, _ in edits])
        edits += [
            (start, end, f"{literal(OWN_CATALOGS[-1] if of_catalog else self._current)}{alias}")
            for start, end, alias, of_catalog in calls_of_current_names(bound.source)
        ]
        if not edits:
            return bound
        edits = sorted([*bound.edits, *edits])
        return BoundQuery(edited(bound.source, edits), bound.references, bound.source, tuple(edits))

    def bodies(self, sql: str, database: str) -> Iterator[str]:
        """The bodies of the SQL functions that a text calls, and of those that they call."""
        left, found = [(sql, database)], set[str]()
        while left:
            text, current = left.pop()
            for call in function_calls(text):
                function = self._function(call.parts, current)
                if function is not None and function.language == SQL and function.full_name not in found:
                    found.add(function.full_name)
                    left.append((function.body, function.database))
                    yield function.body

    def inlined(self, sql: str, database: str) -> str:
        """A text without calls of aggregate functions in SQL: replaced by their bodies."""
        for _ in range(_MAX_INLINED):
            called = ((call, self._function(call.parts, database)) for call in function_calls(sql))
            found = next(((call, one) for call, one in called if one is not None and one.is_inlined), None)
            if found is None:
                return sql
            sql = inlined(sql, *found)
        raise SqlError("The query calls too many aggregate functions.", hint="Do they call each other in a circle?")

    def _function(self, parts: Sequence[str], database: str) -> Function | None:
        """The function of the warehouse that a call means. Spark's own hide those of the current database."""
        target = parts[0] if len(parts) > 1 else database
        if target not in self._names:
            known = self._catalog.database_exists(target)
            names = self._catalog.functions.names(self._catalog.require_database(target)) if known else []
            self._names[target] = frozenset(names)
        if parts[-1].lower() not in self._names[target]:
            return None
        if len(parts) == 1 and is_session_function(self._spark, parts[0]):
            return None
        return self._catalog.functions.load(self._catalog.require_database(target), parts[-1])
