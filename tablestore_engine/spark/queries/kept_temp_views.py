"""Temporary views of a session that its later statements may name, too.

Invariant: a name always means the same rows, and is kept as long as a statement that found it is unfinished. Those that
nobody found for the longest time are given up first.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import ReferenceType, ref

from pyspark.sql import SparkSession

from tablestore_engine.recently_used import RecentlyUsed

T = TypeVar("T")
KEPT = 128
_ATTRIBUTE = "_tablestore_kept_views"
_lock = threading.Lock()


@dataclass
class _Entry(Generic[T]):
    view: str
    value: T
    statements: list[ReferenceType[object]] = field(default_factory=list)

    def found_by(self, statement: object) -> None:
        self.statements = [one for one in self.statements if one() is not None] + [ref(statement)]

    @property
    def is_used(self) -> bool:
        return any(one() is not None for one in self.statements)


class KeptTempViews(Generic[T]):
    """The kept views of one session, each with a value. Safe for many threads."""

    def __init__(self, spark: SparkSession, kept: int = KEPT) -> None:
        self._kept = kept
        # Kept by the session itself, whose names they are.
        self._entries: RecentlyUsed[Hashable, _Entry[T]]
        self._old: list[_Entry[T]]
        self._entries, self._old = vars(spark).setdefault(_ATTRIBUTE, (RecentlyUsed(kept), []))

    def find(self, key: Hashable, statement: object) -> tuple[str, T] | None:
        """The unquoted name under a key, and its value. The name is not dropped while `statement` is referenced."""
        with _lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            entry.found_by(statement)
            return entry.view, entry.value

    def keep(self, key: Hashable, view: str, value: T, statement: object) -> list[str]:
        """Keep a temporary view that the statement made, in the stead of the one under the key. Returns the views that
        no statement finds, or has found, any longer."""
        entry = _Entry(view, value)
        entry.found_by(statement)
        with _lock:
            before = self._entries.drop(key)
            self._old += [] if before is None else [before]
            self._old += self._entries.put(key, entry, self._kept)
            unused = [one.view for one in self._old if not one.is_used]
            self._old[:] = [one for one in self._old if one.is_used]
        return unused
