"""Which plain files may hold rows that retractions remove, decided by statistics alone; in doubt, every file.

A file holds a row only if it holds each of its values. So one column whose values in a plain file and in the retraction
files do not overlap is enough: the plain file need not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.scan.file_skipping import FileBounds
from tablestore_engine.operation.scan.stats_may_match import Bounds
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataType


@dataclass(frozen=True)
class Values:
    """The values of a column in some files: between two bounds (None: there are none), and nulls or not."""

    low: Any
    high: Any
    nulls: bool

    @classmethod
    def of(cls, found: tuple[DataType, Bounds] | None) -> Values | None:
        """None when nothing is known."""
        if found is None:
            return None
        known = found[1]
        if known.null_count is not None and known.null_count == known.row_count:
            return cls(None, None, True)
        if known.minimum is None or known.maximum is None:
            return None
        return cls(known.minimum, known.maximum, known.null_count != 0)

    def meets(self, other: Values) -> bool:
        """Whether a value may be in both."""
        if self.nulls and other.nulls:
            return True
        if self.low is None or other.low is None:
            return False
        return bool(self.low <= other.high and other.low <= self.high)

    def with_those_of(self, other: Values) -> Values:
        """The values of both."""
        bounds = [one for one in (self, other) if one.low is not None]
        low, high = min((b.low for b in bounds), default=None), max((b.high for b in bounds), default=None)
        return Values(low, high, self.nulls or other.nulls)


def values_of(
    files: Iterable[DataFileMeta], schema: TableSchema, schemas: Callable[[int], TableSchema]
) -> dict[str, Values]:
    """The values of each column in some files, by the names of `schema`; columns without statistics in some file
    are left out.

    `schemas` loads the schema that a file was written with.
    """
    found: dict[str, Values] = {}
    unknown: set[str] = set()
    for file in files:
        bounds = FileBounds(file, schema, schemas).of(None)
        for name in schema.field_names:
            values = Values.of(bounds(name))
            if values is None:
                unknown.add(name)
            else:
                found[name] = found[name].with_those_of(values) if name in found else values
    return {name: values for name, values in found.items() if name not in unknown}


def overlapping_with(
    retractions: Iterable[DataFileMeta], schema: TableSchema, schemas: Callable[[int], TableSchema]
) -> Callable[[DataFileMeta], bool]:
    """Whether some retraction files may take rows from a plain file of their bucket.

    `schemas` loads the schema that a file was written with.
    """
    retracted_values = values_of(retractions, schema, schemas)

    def may_overlap(file: DataFileMeta) -> bool:
        bounds = FileBounds(file, schema, schemas).of(None)
        for name, values in retracted_values.items():
            own = Values.of(bounds(name))
            if own is not None and not own.meets(values):
                return False
        return True

    return may_overlap
