"""Objects of a session: temporary views and functions, and variables; and whether what a temporary view reads changed.

Another session would not find them, or find others, so a definition that outlives the session and names one is refused,
as in Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import NotFoundError, SqlError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.spark.queries.session_functions import users_functions
from tablestore_engine.spark.queries.session_variables import variables_of
from tablestore_engine.spark.queries.temp_views import Definition, ends_with_session, is_temporary, remembered
from tablestore_engine.sql.query.function_calls import function_calls
from tablestore_engine.sql.tokens.lexer import QUOTED, STRING, tokenize
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tablestore_engine.sql.pinned_queries.pinned_query import Frames

_VARIABLE: Final = re.compile(r"\$\{(?:(\w+?):)?(\S+?)\}")
_OF_SETTINGS: Final = ("spark", "sparkconf", "hivevar", "hiveconf")
_OF_PROCESS: Final = ("env", "system")
_OF_EXPRESSIONS: Final = frozenset(
    ["SELECT", "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "NULL", "TRUE", "FALSE", "AS"]
)


def refuse_temporary_views(spark: SparkSession, what: str, names: Iterable[str]) -> None:
    """Raise a SqlError for a definition that reads a temporary view; `names` are those without a schema in it."""
    for name in names:
        if is_temporary(spark, name) and ends_with_session(spark, name):
            raise SqlError(
                f"{what} cannot read the temporary view '{name}', which ends with the session.",
                hint=f"Create '{name}' as a view or a table, or this one as a temporary view.",
            )


def refuse_temporary(spark: SparkSession, what: str, query_sql: str, planned_sql: str) -> None:
    """Raise a SqlError for a definition that calls a temporary function, or reads a variable.

    `what` is defined by the user's text `query_sql`, which Spark gets as `planned_sql`.
    """
    refuse_replaced(spark, what, query_sql)
    called = {one.parts[-1].lower() for one in function_calls(query_sql) if _may_be_temporary(one.parts)}
    for name in sorted(called & users_functions(spark)) if called else ():
        raise SqlError(
            f"{what} cannot call the temporary function '{name}', which ends with the session.",
            hint="CREATE FUNCTION makes one that stays in the warehouse.",
        )
    named = _bare_names(query_sql)
    for name in variables_of(spark, planned_sql) if named else ():
        if name.lower() in named:  # and is no text in quotes
            raise SqlError(
                f"{what} cannot read the variable '{name}', which ends with the session.",
                hint="Write its value instead.",
            )


def is_current(frames: Frames, below: Mapping[str, Definition | None]) -> bool:
    """Whether tables have the schemas and snapshots with which a query read them, views the same text, and temporary
    views `below` the same sources, which are current, too."""
    for name, source in below.items():
        if remembered(frames.spark, name) is not source or (source is not None and not source.is_current()):
            return False
    catalog = frames.catalog
    try:
        return all(_is_current(catalog, *one) for one in frames.pinned) and all(
            catalog.load_view(*name) == view for name, view in frames.read_views.items()
        )
    except NotFoundError:
        return False


def _is_current(catalog: Catalog, table: Table, read: Snapshot | None) -> bool:
    now = catalog.load_table(*table.identifier)
    return (now.path, now.schema, now.latest_snapshot()) == (table.path, table.schema, read)


def refuse_replaced(spark: SparkSession, what: str, query_sql: str) -> None:
    """Raise a SqlError for a definition with a variable `${name}` of the session, which Spark replaces by its value
    whenever it reads the text. What no setting is named is left as it is."""
    if "${" not in query_sql or str(spark.conf.get("spark.sql.variable.substitute", "true")).lower() != "true":
        return
    for found in _variables(query_sql):
        kind, name = found[1], found[2]
        set_here = (kind is None or kind in _OF_SETTINGS) and spark.conf.get(name, None) is not None
        if set_here or kind in _OF_PROCESS:
            raise SqlError(
                f"{what} cannot read the variable '{found[0]}', which ends with the session.",
                hint="Write its value instead; concat('$', '{…}') is a text of these characters.",
            )


def _variables(query_sql: str) -> Iterator[re.Match[str]]:
    """The variables in a text, outside of its comments."""
    for one, behind in pairwise(tokenize(query_sql)):
        if one.kind in (STRING, QUOTED):
            yield from _VARIABLE.finditer(query_sql, one.start, one.end)
        elif one.key == "$" and behind.key == "{":
            found = _VARIABLE.match(query_sql, one.start)
            if found is not None:
                yield found


def _bare_names(query_sql: str) -> set[str]:
    """The lower-cased names in a text that are of no functions."""
    tokens = tokenize(query_sql)
    return {
        one.name.lower()
        for one, behind in pairwise(tokens)
        if one.is_name and behind.key != "(" and one.key not in _OF_EXPRESSIONS
    }


def _may_be_temporary(parts: tuple[str, ...]) -> bool:
    return len(parts) == 1 or parts[0].lower() == "session"
