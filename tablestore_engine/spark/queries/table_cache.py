"""CACHE TABLE: the rows of whole tables that Spark keeps in memory, for the session that asked for it.

A table is read at one snapshot, so the kept rows never change. Invariant: a statement that reads a newer snapshot never
gets rows of an older one; it replaces them, and Spark reads the new rows when they are first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.errors import SqlError

_ATTRIBUTE = "_tablestore_cached_tables"
_DEFAULT_LEVEL = "MEMORY_AND_DISK"
_LEVELS = [name for name in vars(StorageLevel) if name.isupper()]


@dataclass(frozen=True)
class CachedTable:
    """The kept rows of a table, what they are the rows of, and the bytes of their files."""

    level: str
    state: Hashable
    frame: DataFrame
    file_size: int


def storage_level(text: str | None) -> str:
    """The name of a storage level. Raises SqlError."""
    level = (text or _DEFAULT_LEVEL).strip().upper()
    if level not in _LEVELS:
        raise SqlError(f"'{text}' is not a storage level.", hint=f"Levels are {', '.join(sorted(_LEVELS))}.")
    return level


def keep(
    spark: SparkSession, path: str, level: str, state: Hashable, read: Callable[[], tuple[DataFrame, int]]
) -> CachedTable:
    """Keep the rows of the table at a path from now on; Spark reads them when they are first needed."""
    drop(spark, path)
    frame, size = read()
    entry = CachedTable(level, state, frame.persist(getattr(StorageLevel, level)), size)
    _entries(spark)[path] = entry
    return entry


def kept(
    spark: SparkSession, path: str, state: Hashable, read: Callable[[], tuple[DataFrame, int]]
) -> CachedTable | None:
    """The kept rows of a table, brought to a state; None for a table that is not cached (any more)."""
    entry = _entries(spark).get(path)
    if entry is None:
        return None
    if entry.frame.storageLevel == StorageLevel.NONE:  # CLEAR CACHE
        del _entries(spark)[path]
        return None
    return entry if entry.state == state else keep(spark, path, entry.level, state, read)


def caches_tables(spark: SparkSession) -> bool:
    """Whether the session keeps rows of a table."""
    return bool(_entries(spark))


def drop(spark: SparkSession, path: str) -> None:
    """Stop keeping the rows of a table."""
    entry = _entries(spark).pop(path, None)
    if entry is not None:
        entry.frame.unpersist()


def _entries(spark: SparkSession) -> dict[str, CachedTable]:
    entries: dict[str, CachedTable] = vars(spark).setdefault(_ATTRIBUTE, {})
    return entries
