"""Whether columns that were replaced, or have another type, have the values of before, by the statistics of files.

Nothing is read but manifests. What they do not say is taken for another value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tablestore_engine.schema.types.types import INTEGER_ROOTS

if TYPE_CHECKING:
    from tablestore_engine.metadata.snapshot import Snapshot
    from tablestore_engine.operation.scan.file_skipping import FileBounds
    from tablestore_engine.operation.scan.stats_may_match import Bounds
    from tablestore_engine.schema.casts.changed_columns import ChangedColumn
    from tablestore_engine.schema.table.table_schema import TableSchema
    from tablestore_engine.schema.types.types import AtomicType
    from tablestore_engine.table import Table

_BITS = dict(zip(INTEGER_ROOTS, (8, 16, 32, 64), strict=True))


@dataclass(frozen=True)
class KeptValues:
    """The values of a source that was read at a snapshot, with the schema `past`."""

    source: Table
    snapshot: Snapshot
    past: TableSchema

    def of(self, changed: ChangedColumn) -> bool:
        """Whether a column has the same values now: it has none, or all fit into the types that it got."""
        is_new = changed.added is not None and changed.added.default_value is None
        if not (is_new or changed.types) or (self.past.primary_keys and self.past.merge_engine.folds):
            return False
        found = [one.of(None)(changed.past.name) for one in self._files]
        if any(one is None for one in found):
            return False
        bounds = [one[1] for one in found if one is not None]
        filled = [one for one in bounds if one.null_count is None or one.null_count != one.row_count]
        return not filled if is_new else all(_fit(filled, kind) for kind in changed.types)

    @cached_property
    def _files(self) -> list[FileBounds]:
        """The statistics of each file. They are sought once, for the first column that asks for them."""
        from tablestore_engine.operation.scan.file_skipping import FileBounds  # which imports Arrow

        plan, schemas = self.source.scan(self.snapshot), self.source.schemas
        return [FileBounds(file, self.past, schemas.load) for bucket in plan.buckets for file in bucket.files]


def _fit(bounds: Iterable[Bounds], kind: AtomicType) -> bool:
    if kind.root in _BITS:
        least, most = -(1 << _BITS[kind.root] - 1), (1 << _BITS[kind.root] - 1) - 1
    else:
        most = 10 ** ((kind.precision or 0) - (kind.scale or 0)) - 1
        least = -most
    return all(
        one.minimum is not None and one.maximum is not None and least <= one.minimum and one.maximum <= most
        for one in bounds
    )
