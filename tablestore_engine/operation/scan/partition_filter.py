"""The partitions that a scan wants, and the manifests that may hold files of them.

The entry that adds a file and the one that removes it are of the same partition. So the entries of the wanted
partitions alone determine which of their files are live, and a manifest that has none of these partitions, according to
the manifest list, need not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tablestore_engine.metadata.binary_row import decode_row
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestFileMeta
from tablestore_engine.metadata.partition import UNKNOWN, PartitionFormat
from tablestore_engine.operation.scan.stats_may_match import Bounds, may_match
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.table_schema import TableSchema

PartitionFilter = Callable[[tuple[Any, ...]], bool]


class PartitionChoice:
    """The partitions in which rows may fit a predicate, and whose values a filter accepts."""

    def __init__(self, schema: TableSchema, predicate: Predicate | None, accepts: PartitionFilter | None) -> None:
        """A `predicate` or filter of None leaves nothing out."""
        self._fields = schema.partition_fields
        self._filled = schema.partition_fill > 0
        self._types = [f.type for f in self._fields]
        self._format = PartitionFormat(schema)
        self._predicate = predicate
        self._key = schema.key
        self._accepts = accepts
        self._known: dict[bytes, bool] = {}

    def wants(self, partition: bytes) -> bool:
        """Whether the files of a partition, a BinaryRow, are to be read."""
        found = self._known.get(partition)
        if found is None:
            values = self._format.decode(partition)
            found = self._known[partition] = (self._accepts is None or self._accepts(values)) and self._may_match(
                [Bounds() if v is UNKNOWN else Bounds(v, v, int(v is None), 1) for v in values]
            )
        return found

    def may_hold(self, meta: ManifestFileMeta) -> bool:
        """Whether a manifest may hold entries of such partitions; in doubt, yes."""
        stats = meta.partition_stats
        # With a filled row there are bounds of other columns only.
        if self._filled or not self._fields or len(stats.null_counts) != len(self._fields):
            return True
        try:
            low, high = (decode_row(row, self._types) for row in (stats.min_values, stats.max_values))
        except ValueError:
            return True
        entries = meta.num_added_files + meta.num_deleted_files
        bounds = [Bounds(a, b, n, entries) for a, b, n in zip(low, high, stats.null_counts, strict=True)]
        if not self._may_match(bounds):
            return False
        return self._accepts is None or not all(map(_is_one_value, bounds)) or self._accepts(low)

    def _may_match(self, bounds: Sequence[Bounds]) -> bool:
        known = {self._key(f.name): (f.type, one) for f, one in zip(self._fields, bounds, strict=True)}
        return may_match(self._predicate, lambda column: known.get(self._key(column)))


def _is_one_value(known: Bounds) -> bool:
    """Whether all entries have the same value, which is not null."""
    return known.null_count == 0 and known.minimum is not None and bool(known.minimum == known.maximum)
