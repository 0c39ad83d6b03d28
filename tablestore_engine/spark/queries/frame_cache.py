"""Frames of tables that a session read before, so that the next statement on an unchanged table does not plan it again.

A frame is pinned to one snapshot, whose files never change; so a key always names the same rows.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from pyspark.sql import SparkSession

T = TypeVar("T")
_KEPT = 32
_ATTRIBUTE = "_tablestore_frames"


class FrameCache(Generic[T]):
    """The least recently used values are dropped first; each session has its own. Safe for many threads."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()

    def get(self, spark: SparkSession, key: Hashable, make: Callable[[], T]) -> T:
        """The value under a key; made when there is none. Two threads may make the same at once."""
        with self._lock:
            # Kept by the session itself, for frames refer to it: nothing outlives it.
            values: OrderedDict[Hashable, T] = vars(spark).setdefault(_ATTRIBUTE, OrderedDict())
            if key in values:
                values.move_to_end(key)
                return values[key]
        made = make()
        with self._lock:
            values[key] = made
            while len(values) > self._kept:
                values.popitem(last=False)
        return made
