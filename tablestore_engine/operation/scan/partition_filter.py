"""The partitions that a scan wants, and the manifests that may hold files of them.

The entry that adds a file and the one that removes it are of the same partition. So the entries of the wanted
partitions alone determine which of their files are live, and a manifest that has none of these partitions, according to
the manifest list, need not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.manifest_encoding.block_bounds import BlockBounds
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry, ManifestFileMeta
from tablestore_engine.metadata.partition import UNKNOWN, PartitionFormat
from tablestore_engine.operation.scan.stats_may_match import Bounds, may_match
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.table_schema import TableSchema

_MOST_NAMED = 1_000  # of more, comparing each with the bounds of each manifest would cost more than it saves
PartitionValuesFilter = Callable[[tuple[Any, ...]], bool]


class PartitionFilter:
    """The partitions in which rows may fit a predicate, whose values a filter accepts, and that are named."""

    def __init__(
        self,
        schema: TableSchema,
        predicate: Predicate | None = None,
        accepts: PartitionValuesFilter | None = None,
        named: Collection[bytes] | None = None,
    ) -> None:
        """A `predicate`, filter or names (BinaryRows) of None leave nothing out."""
        self._fields = schema.partition_fields
        self._filled = schema.partition_fill > 0
        self._types = [f.type for f in self._fields]
        self._format = PartitionFormat(schema)
        self._predicate = predicate
        self._key = schema.key
        self._accepts = accepts
        self._known: dict[bytes, bool] = {}
        self._named = None if named is None else frozenset(named)
        self._named_values = [self._format.decode(row) for row in self._named or ()]

    @classmethod
    def of(cls, schema: TableSchema, named: Collection[bytes] | None) -> PartitionFilter | None:
        """Exactly the named partitions; None, for all, of None or where there are no partition columns."""
        return None if named is None or not schema.partition_keys else cls(schema, named=named)

    def wants(self, partition: bytes) -> bool:
        """Whether the files of a partition, a BinaryRow, are to be read."""
        if self._named is not None and partition not in self._named:
            return False
        found = self._known.get(partition)
        if found is None:
            values = self._format.decode(partition)
            found = self._known[partition] = (self._accepts is None or self._accepts(values)) and self._may_match(
                [Bounds() if v is UNKNOWN else Bounds(v, v, int(v is None), 1) for v in values]
            )
        return found

    def chosen(self, entries: Iterable[ManifestEntry]) -> list[ManifestEntry]:
        """Those of some entries that are in such partitions."""
        if self._named is not None and self._predicate is None and self._accepts is None:
            return [one for one in entries if one.partition in self._named]
        return [one for one in entries if self.wants(one.partition)]

    def may_hold(self, one: ManifestFileMeta | BlockBounds, /) -> bool:
        """Whether a manifest, or a block of one, may hold entries of such partitions; in doubt, yes."""
        stats = one.partition_stats
        # With a filled row there are bounds of other columns only.
        if self._filled or not self._fields or len(stats.null_counts) != len(self._fields):
            return True
        try:
            low, high = (decode_row(row, self._types) for row in (stats.min_values, stats.max_values))
        except ValueError:
            return True
        bounds = [Bounds(a, b, n, one.entry_count) for a, b, n in zip(low, high, stats.null_counts, strict=True)]
        if not self._may_match(bounds) or not self._may_be_named(bounds):
            return False
        return self._accepts is None or not all(map(_is_one_value, bounds)) or self._accepts(low)

    def _may_be_named(self, bounds: Sequence[Bounds]) -> bool:
        if self._named is None or len(self._named_values) > _MOST_NAMED:
            return True
        return any(all(map(_may_be, bounds, values)) for values in self._named_values)

    def _may_match(self, bounds: Sequence[Bounds]) -> bool:
        known = {self._key(f.name): (f.type, one) for f, one in zip(self._fields, bounds, strict=True)}
        return may_match(self._predicate, lambda column: known.get(self._key(column)))


def _may_be(known: Bounds, value: Any) -> bool:
    """Whether a partition column with these bounds may have a value."""
    if value is UNKNOWN:
        return True
    if value is None:
        return known.null_count is None or known.null_count > 0
    if known.minimum is None or known.maximum is None:
        return known.null_count is None or known.null_count < (known.row_count or 0)
    # NaN is the greatest number, in bounds and here.
    return not (value < known.minimum or value > known.maximum)


def _is_one_value(known: Bounds) -> bool:
    """Whether all entries have the same value, which is not null."""
    return known.null_count == 0 and known.minimum is not None and bool(known.minimum == known.maximum)
