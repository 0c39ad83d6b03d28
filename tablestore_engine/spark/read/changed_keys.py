"""Which rows of an old run have a key that newer runs hold too, as SQL.

A join on the keys of the newer runs is right for any number of them; how keys are joined depends on what is known of
them. When a query's predicate leaves only a few, they are read here and become constants, and the query needs no join.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from tablestore_engine.mergetree.compaction.levels import SortedRun
from tablestore_engine.mergetree.compaction.sections import Section
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal
from tablestore_engine.spark.read.join_key import KeyBlocks, Sql
from tablestore_engine.spark.read.key_blocks import BLOCK, slot
from tablestore_engine.spark.scan.file_scan import BucketFile

BROADCAST_ROWS = 2_000_000
_MAX_CONSTANTS = 50


@dataclass(frozen=True)
class MergingFiles:
    """The files of the sections that need merging."""

    bottom: list[BucketFile]
    upper: list[BucketFile]
    one_upper_run: bool
    upper_is_newer: bool
    upper_runs_are_apart: bool  # no two of them have sequence numbers in common

    @property
    def upper_rows(self) -> int:
        """How many records the newer runs have."""
        return sum(f.row_count for _, f in self.upper)


def merging_files(merging: list[tuple[BucketScan, Section]]) -> MergingFiles:
    """The files of some sections."""
    bottom: list[BucketFile] = []
    upper: list[BucketFile] = []
    newer = apart = True
    for bucket, section in merging:
        *above, last = section.runs
        bottom.extend((bucket, f) for f in last.files)
        upper.extend((bucket, f) for run in above for f in run.files)
        numbers = sorted(_numbers(run) for run in above)
        # One run alone holds retractions.
        newer = newer and (not numbers or _numbers(last)[1] < numbers[0][0])
        apart = apart and all(one[1] < next_one[0] for one, next_one in pairwise(numbers))
    return MergingFiles(bottom, upper, all(len(s.runs) <= 2 for _, s in merging), newer, apart)


def _numbers(run: SortedRun) -> tuple[int, int]:
    """The least and the greatest sequence number of a run."""
    return min(f.min_sequence_number for f in run.files), max(f.max_sequence_number for f in run.files)


class ChangedKeys(Protocol):
    """The keys of the newer runs.

    Queries are texts for `SparkSession.sql` with ``{bottom}``, ``{upper}`` and the names of `frames`.
    """

    @property
    def are_few(self) -> bool:
        """Whether a predicate left so few that each is named."""

    @property
    def frames(self) -> Mapping[str, DataFrame]:
        """The frames that the queries read in addition to the runs."""

    def without(self, columns: str, where: str) -> str:
        """Query for the rows of ``{bottom}`` with a condition whose key the newer runs do not hold."""

    def only(self, columns: str) -> str:
        """Query for the rows of ``{bottom}`` whose key the newer runs hold."""


@dataclass(frozen=True)
class ConstantKeys:
    """A few keys, written into the query."""

    condition: str
    frames: Mapping[str, DataFrame] = field(default_factory=dict)
    are_few: bool = field(default=True, init=False)

    def without(self, columns: str, where: str) -> str:
        """See `ChangedKeys`."""
        return f"SELECT {columns} FROM {{bottom}} b WHERE NOT ({self.condition}) AND {where}"

    def only(self, columns: str) -> str:
        """See `ChangedKeys`."""
        return f"SELECT {columns} FROM {{bottom}} b WHERE ({self.condition})"


class _Join(ABC):
    """Keys that rows are joined with."""

    @property
    def are_few(self) -> bool:
        """See `ChangedKeys`."""
        return False

    def without(self, columns: str, where: str) -> str:
        """See `ChangedKeys`."""
        return f"{self._join('ANTI', columns)} WHERE {where}"

    def only(self, columns: str) -> str:
        """See `ChangedKeys`."""
        return self._join("SEMI", columns)

    @abstractmethod
    def _join(self, kind: str, columns: str) -> str: ...


@dataclass(frozen=True)
class JoinedKeys(_Join):
    """A join by `keys`, expressions that are equal exactly when the keys are."""

    keys: tuple[Sql, ...]
    broadcast: bool
    frames: Mapping[str, DataFrame] = field(default_factory=dict)

    def _join(self, kind: str, columns: str) -> str:
        names = [f"__tablestore_key{i}" for i in range(len(self.keys))]
        selected = ", ".join(f"{key('u')} AS {name}" for key, name in zip(self.keys, names, strict=True))
        # Not DISTINCT: neither join minds keys that repeat, and to leave them out would shuffle all.
        changed = f"SELECT {selected} FROM {{upper}} u"
        on = " AND ".join(f"{key('b')} = c.{name}" for key, name in zip(self.keys, names, strict=True))
        hint = "/*+ BROADCAST(c) */ " if self.broadcast else ""
        return f"SELECT {hint}{columns} FROM {{bottom}} b LEFT {kind} JOIN ({changed}) c ON {on}"


@dataclass(frozen=True)
class BlockedKeys(_Join):
    """A join by blocks of keys, which were read here; `frames` has them as ``blocks``."""

    keys: KeyBlocks
    frames: Mapping[str, DataFrame]

    def _join(self, kind: str, columns: str) -> str:
        matches = []
        for number in range(self.keys.slots):
            parts = enumerate(self.keys.columns)
            # Spark would turn a plain equality into another join key.
            same = (f"({column('b')} ^ c.{slot(number, index)}) = 0" for index, column in parts)
            matches.append(f"({' AND '.join(same)})")
        on = f"{self.keys.block('b')} = c.{BLOCK} AND ({' OR '.join(matches)})"
        return f"SELECT /*+ BROADCAST(c) */ {columns} FROM {{bottom}} b LEFT {kind} JOIN {{blocks}} c ON {on}"


def constant_keys(keys: pa.Table) -> ConstantKeys | None:
    """The keys (one column per key column) as constants; None when they are many or no constants."""
    if not 0 < keys.num_rows <= _MAX_CONSTANTS:
        return None
    try:
        rows = keys.to_pylist()
    except (OverflowError, ValueError):
        return None  # a date beyond what Python knows
    conditions = []
    for row in rows:
        texts = {name: constant(value) for name, value in row.items()}
        if None in texts.values():
            return None
        conditions.append(" AND ".join(f"b.{formatted(name)} = {text}" for name, text in texts.items()))
    return ConstantKeys(" OR ".join(f"({one})" for one in conditions))


def constant(value: Any) -> str | None:
    """The value as a constant of a text for `str.format`; None where it is not one."""
    return formatted_literal(value) if is_constant(value) else None


def is_constant(value: Any) -> bool:
    """Whether a literal of the value means the same whatever the session's settings are."""
    return isinstance(value, (str, int, date)) and not isinstance(value, (bool, datetime))
