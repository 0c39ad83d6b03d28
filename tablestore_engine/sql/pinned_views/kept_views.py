"""Views that an earlier statement of the session bound, so that the next one does not have Spark analyse them again.

A bound view depends on the texts of the views and the snapshots of the tables that it reads, on the settings of the
session and its functions. Where one of these is another one now, the view is bound anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tablestore_engine.catalog import Catalog, View
from tablestore_engine.errors import TableStoreError
from tablestore_engine.spark.queries.kept_temp_views import KeptTempViews
from tablestore_engine.spark.queries.session_functions import registered_functions
from tablestore_engine.spark.queries.session_variables import may_have_made
from tablestore_engine.spark.queries.table_cache import caches_tables
from tablestore_engine.spark.queries.temp_views import TempViews
from tablestore_engine.spark.session.session_settings import settings_text
from tablestore_engine.sql.pinned_views.bound_reads import BoundReads
from tablestore_engine.sql.query.function_calls import function_calls

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

StateOf = Callable[[str, str], Hashable]
"""The state of a table on which the rows of a statement depend; raises TableStoreError if there is none."""


@dataclass(frozen=True)
class _Bound:
    """The reads of a bound view, and the fields of its tables that subqueries around it name (see `read_plan`)."""

    reads: BoundReads
    fields: frozenset[str]


class KeptViews:
    """The bound views that one statement may find."""

    def __init__(self, temp_views: TempViews, catalog: Catalog, state_of: StateOf, *, looks_up: bool) -> None:
        """`looks_up`: the statement may look rows up while its views are bound."""
        self._temp_views = temp_views
        self._spark = temp_views.spark
        self._catalog = catalog
        self._state_of = state_of
        self._looks_up = looks_up

    @cached_property
    def _kept(self) -> KeptTempViews[_Bound]:
        return KeptTempViews(self._spark)

    @cached_property
    def _session(self) -> tuple[Hashable, frozenset[str]] | None:
        """The settings of the session, and the functions that it made; None if rows may depend on more of it."""
        if self._temp_views.lasting or caches_tables(self._spark) or may_have_made(self._spark):
            return None
        return settings_text(self._spark), registered_functions(self._spark)

    def bound(
        self,
        view: tuple[str, ...],
        correlated: frozenset[str] | None,
        bind: Callable[[], tuple[DataFrame, BoundReads]],
        *,
        fresh: bool = False,
    ) -> tuple[str, BoundReads]:
        """The temporary view of a view, and what it reads: found, or bound and, where rows depend only on what can be
        compared, kept.

        `correlated`: the fields that texts around the view named. `fresh`: it is neither found nor kept.
        """
        found = None if fresh else self._found(view, correlated)
        if found is not None:
            return found
        frame, reads = bind()
        keeps = not fresh and self._lasts(reads)
        name = self._temp_views.add(f"{view[0]}.{view[1]}", frame, kept=keeps)
        if keeps:
            key = self._key(view, correlated, self._looks_up)
            for unused in self._kept.keep(key, name, _Bound(reads, _fields(correlated, reads)), self):
                self._temp_views.release(unused)
        return name, reads

    def _found(self, view: tuple[str, ...], correlated: frozenset[str] | None) -> tuple[str, BoundReads] | None:
        if self._session is None:
            return None
        for looks_up in (self._looks_up, not self._looks_up):
            found = self._kept.find(self._key(view, correlated, looks_up), self)
            if found is None:
                continue
            name, bound = found
            misses = self._looks_up and not looks_up and bound.reads.looks_up
            if not misses and bound.fields == _fields(correlated, bound.reads) and self._is_current(bound):
                return name, bound.reads
        return None

    def _lasts(self, reads: BoundReads) -> bool:
        return self._session is not None and not (
            reads.varies or reads.unknown or self._calls_made(self._session[1], reads.views.values())
        )

    def _key(self, view: tuple[str, ...], correlated: frozenset[str] | None, looks_up: bool) -> Hashable:
        return self._catalog.warehouse, view, self._session, correlated is None, looks_up

    def _calls_made(self, made: frozenset[str], views: Iterable[View]) -> bool:
        calls = (call for view in views if made for call in function_calls(view.sql))
        return any(call.parts[-1].lower() in made for call in calls)

    def _is_current(self, bound: _Bound) -> bool:
        kind, load = self._catalog.object_kind, self._catalog.load_view
        views, states = bound.reads.views.items(), bound.reads.states.items()
        try:
            return all(kind(*name) == "view" and load(*name) == view for name, view in views) and all(
                kind(*name) == "table" and self._state_of(*name) == state for name, state in states
            )
        except TableStoreError:
            return False  # binding it anew raises what is wrong


def _fields(correlated: frozenset[str] | None, reads: BoundReads) -> frozenset[str]:
    return (correlated or frozenset()) & reads.nested
