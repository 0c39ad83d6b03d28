"""Frames of tables that a session read before, so that the next statement on an unchanged table does not plan it again.

A frame is pinned to one snapshot, whose files never change; so a key always names the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Generic, TypeVar

from pyspark.sql import SparkSession

from tablestore_engine.recently_used import RecentlyUsed

T = TypeVar("T")
_KEPT = 32
_ATTRIBUTE = "_tablestore_frames"


class FrameCache(Generic[T]):
    """The least recently used values are dropped first; each session has its own. Safe for many threads."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept

    def get(self, spark: SparkSession, key: Hashable, make: Callable[[], T]) -> T:
        """The value under a key; made when there is none. Two threads may make the same at once."""
        # Kept by the session itself, because frames refer to it: nothing outlives it.
        values: RecentlyUsed[Hashable, T] = vars(spark).setdefault(_ATTRIBUTE, RecentlyUsed(self._kept))
        with suppress(KeyError):
            return values[key]
        made = make()
        values.put(key, made)
        return made
