"""The error about a text that cannot be translated, and the names of the dialects."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from dbt_common.exceptions import DbtRuntimeError

DIALECTS: Final = ("snowflake", "bigquery", "redshift", "postgres", "duckdb", "databricks", "trino")

Columns = Callable[[Sequence[str]], Mapping[str, str] | None]
"""The columns of a table, with their types, by the parts of its name; None where there is no such table."""


def remembered(columns_of: Columns | None) -> Columns | None:
    """The same answers, each of which is looked up once."""
    known: dict[tuple[str, ...], Mapping[str, str] | None] = {}

    def columns(parts: Sequence[str]) -> Mapping[str, str] | None:
        key = tuple(parts)
        if key not in known and columns_of is not None:
            known[key] = columns_of(parts)
        return known.get(key)

    return None if columns_of is None else columns


SPARK: Final = "spark"
"""The dialect of a model that is not translated, where a folder or profile sets another one."""


class Untranslatable(Exception):
    """A construct that Spark's SQL has no equivalent of, with the reason or a way out. `node`: where it is; `span`: its
    first and last character, where there is no node."""

    node: Any = None
    span: tuple[int, int] | None = None


@contextmanager
def about(node: Any) -> Iterator[None]:
    """Untranslatable that is raised inside, and names no node, is about this one."""
    try:
        yield
    except Untranslatable as error:
        if error.node is None:
            error.node = node
        raise


def checked_dialect(given: Any) -> str | None:
    """The dialect that a config names; None for Spark's own. Raises DbtRuntimeError for an unknown one."""
    if given is None or given == "":
        return None
    name = str(given).strip().lower()
    if name == SPARK:
        return None
    if name not in DIALECTS:
        near = difflib.get_close_matches(name, DIALECTS, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise DbtRuntimeError(f"Config `dialect` is one of {', '.join(DIALECTS)} and {SPARK}, not {given!r}.{hint}")
    return name
