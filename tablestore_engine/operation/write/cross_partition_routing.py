"""Routed writes: which rows go to which partition, where the primary key leaves partition columns out. Decisions only.

Such a key is in one partition at a time, but a row may give it another one. Before rows are written, each is routed,
and its merge engine says how (`routing_of`):

- *deduplicate*: the newest row counts, in its own partition. If another partition holds the key, it is deleted there.
  A table that ignores deletes cannot do that: there the row stays in the partition that holds its key.
- *first-row*: the oldest row counts. Rows of keys that the table holds are left out.
- *partial-update*, *aggregation*: all rows of a key are folded, so they must be in one bucket: in the one that holds
  the key, or, for a new key, in the partition of its first row.

Routing has four steps, for the rows that the table does not ignore. Repeated keys are refused where the write asks for
that (`unique_kinds`); of the rows of one key those are kept that the merge engine needs (`KeptRows`, `row_order`); the
location of each key is looked up (`live_kinds`); and each `Part` takes some of the rows to buckets.

Two executions follow these rules: `cross_partition_keys` in this process, for small writes, and
`spark.write.cross_partition_joins` by joins, for large ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from tablestore_engine.mergetree.merge.merge_runs import SortColumn
from tablestore_engine.operation.write_job.write_job import ORDINAL_COLUMN, WriteJob, row_level_order
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.table.row_kind import DELETE_KIND, KINDS, UPDATE_BEFORE_KIND

_INSERT, _UPDATE_AFTER = KINDS.index("+I"), KINDS.index("+U")


class KeptRows(Enum):
    """Which of the rows that one write has for a key are routed, in the order of `row_order`."""

    LAST = "the last row"
    FIRST = "the first row"
    ALL = "all rows"


class Held(IntEnum):
    """Which partition of the table holds the key of a row before the write."""

    NOWHERE = 0
    SAME_PARTITION = 1  # the partition of the row
    OTHER_PARTITION = 2


class Target(Enum):
    """The bucket that a row is routed to."""

    LOCATION = "the partition and bucket that hold the key"
    OPENED = "a bucket with room, in the partition of the row"


@dataclass(frozen=True)
class Part:
    """Some rows of a write, and what is done with them. A row may be in several parts, or in none.

    The part takes the rows whose key is `held` as it says, without retractions unless `retractions`. `as_deletes`: the
    rows become -D. `together`: the rows of a key first take the partition of the first row among them.
    """

    held: frozenset[Held]
    target: Target
    retractions: bool = True
    as_deletes: bool = False
    together: bool = False


@dataclass(frozen=True)
class Routing:
    """How a merge engine routes rows.

    A key is in a bucket if its last record there has one of the `live_kinds`.
    """

    kept_rows: KeptRows
    live_kinds: tuple[int, ...]
    parts: tuple[Part, ...]


_NEW, _SAME, _OTHER = (frozenset({held}) for held in Held)

_KEPT_ROWS = {Kept.NEWEST: KeptRows.LAST, Kept.OLDEST: KeptRows.FIRST, Kept.FOLD: KeptRows.ALL}
_PARTS = {
    Kept.NEWEST: (
        Part(_SAME, Target.LOCATION),
        Part(_OTHER, Target.LOCATION, as_deletes=True),
        # There is nothing to delete in the row's own partition.
        Part(_NEW | _OTHER, Target.OPENED, retractions=False),
    ),
    Kept.OLDEST: (Part(_NEW, Target.OPENED),),
    Kept.FOLD: (Part(_SAME | _OTHER, Target.LOCATION), Part(_NEW, Target.OPENED, together=True)),
}


_WITHOUT_DELETES = (Part(_SAME | _OTHER, Target.LOCATION), Part(_NEW, Target.OPENED))


def routing_of(engine: MergeEngine) -> Routing:
    """The routing of a merge engine whose table has a primary key."""
    stays = engine.rules.kept is Kept.NEWEST and engine.ignores_deletes
    parts = _WITHOUT_DELETES if stays else _PARTS[engine.rules.kept]
    return Routing(_KEPT_ROWS[engine.rules.kept], _live_kinds(engine), parts)


def _live_kinds(engine: MergeEngine) -> tuple[int, ...]:
    """Where records are folded, a retraction changes values but keeps the row, unless the engine removes rows on -D."""
    if engine.rules.kept is Kept.NEWEST:
        return _INSERT, _UPDATE_AFTER
    kinds = (_INSERT, UPDATE_BEFORE_KIND, _UPDATE_AFTER)
    return kinds if engine.removes_on_delete else (*kinds, DELETE_KIND)


def row_order(job: WriteJob) -> tuple[SortColumn, ...]:
    """The order of the rows that one write has for a key: the given order. Of rows that are computed from the table,
    by UPDATE for example, one that replaces a deleted one comes after it."""
    return *row_level_order(job.row_level), SortColumn(ORDINAL_COLUMN)


def unique_kinds(job: WriteJob) -> tuple[int, ...]:
    """The kinds of the rows of which a key may have only one, if the write refuses repeated keys.

    A row-level operation may delete a key's row and insert another one.
    """
    return (_INSERT,) if job.row_level else tuple(range(len(KINDS)))
