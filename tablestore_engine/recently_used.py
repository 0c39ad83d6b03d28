"""Values by key, of which the least recently used are dropped when there is too much of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def _one(value: object) -> int:
    return 1


class RecentlyUsed(Generic[K, V]):
    """Values whose sizes together are at most a limit; each counts one if no function says its size.

    Safe for many threads.
    """

    def __init__(self, most: int, size: Callable[[V], int] = _one) -> None:
        self._most = most
        self._size_of = size
        self._size = 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def __getitem__(self, key: K) -> V:
        with self._lock:
            self._values.move_to_end(key)
            return self._values[key]

    def __contains__(self, key: K) -> bool:
        with self._lock:
            return key in self._values

    def get(self, key: K) -> V | None:
        """The value, None when there is none."""
        try:
            return self[key]
        except KeyError:
            return None

    def put(self, key: K, value: V, most: int | None = None) -> list[V]:
        """Keep a value under a key. Returns those that were dropped for it, the oldest first.

        `most` is the limit from now on.
        """
        dropped: list[V] = []
        with self._lock:
            self._most = self._most if most is None else most
            if key in self._values:
                self._size -= self._size_of(self._values.pop(key))
            self._values[key] = value
            self._size += self._size_of(value)
            while self._size > self._most:
                dropped.append(self._values.popitem(last=False)[1])
                self._size -= self._size_of(dropped[-1])
        return dropped

    def drop(self, key: K) -> V | None:
        """Forget a key. Returns its value, None when there is none."""
        with self._lock:
            if key not in self._values:
                return None
            value = self._values.pop(key)
            self._size -= self._size_of(value)
            return value

    def clear(self) -> None:
        """Forget all keys."""
        with self._lock:
            self._values.clear()
            self._size = 0

    def items(self) -> list[tuple[K, V]]:
        """All keys and values, the least recently used first."""
        with self._lock:
            return list(self._values.items())
