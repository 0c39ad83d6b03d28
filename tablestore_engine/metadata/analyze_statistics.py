"""The statistics that ANALYZE TABLE computes for the rows of one snapshot, and their form in a file.

Vocabulary: *merged* counts are of rows as a reader sees them, not of the records in files. Least and greatest values
are texts in the file: numbers as they are written, dates as days since 1970, times in UTC. A value that was
not computed is None. Invariant: the JSON form is persisted and shared with other readers of the format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

from tablestore_engine.metadata.partition import java_float_text
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType, DataType

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class ColumnStatistics:
    """One column. Lengths are in bytes; `least` and `greatest` are texts (see `value_text`)."""

    column_id: int
    distinct_count: int | None = None
    least: str | None = None
    greatest: str | None = None
    null_count: int | None = None
    average_length: int | None = None
    greatest_length: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The persisted form, without what is not known."""
        found = {key: getattr(self, name) for key, name in _COLUMN_KEYS.items()}
        return {key: value for key, value in found.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ColumnStatistics:
        """The statistics of a persisted form; older writers left the id out."""
        found: dict[str, Any] = {name: data.get(key) for key, name in _COLUMN_KEYS.items()}
        return cls(**{**found, "column_id": data.get("colId", -1)})


_COLUMN_KEYS = {
    "colId": "column_id",
    "distinctCount": "distinct_count",
    "min": "least",
    "max": "greatest",
    "nullCount": "null_count",
    "avgLen": "average_length",
    "maxLen": "greatest_length",
}


@dataclass(frozen=True)
class Statistics:
    """The rows of one snapshot, read with one schema. `row_size` is in bytes of the files, scaled to the merged
    rows."""

    snapshot_id: int
    schema_id: int
    row_count: int | None
    row_size: int | None
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)

    def to_json(self) -> str:
        """The persisted form."""
        data: dict[str, Any] = {"snapshotId": self.snapshot_id, "schemaId": self.schema_id}
        if self.row_count is not None:
            data["mergedRecordCount"] = self.row_count
        if self.row_size is not None:
            data["mergedRecordSize"] = self.row_size
        data["colStats"] = {name: one.to_json() for name, one in self.columns.items()}
        return json.dumps(data, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Statistics:
        """The statistics of a persisted text. Raises ValueError, KeyError or TypeError when it is none."""
        data = json.loads(text)
        columns = {name: ColumnStatistics.from_json(one) for name, one in (data.get("colStats") or {}).items()}
        return cls(
            int(data["snapshotId"]),
            int(data["schemaId"]),
            data.get("mergedRecordCount"),
            data.get("mergedRecordSize"),
            columns,
        )

    def columns_text(self) -> str:
        """The columns as one line of JSON."""
        return json.dumps({name: one.to_json() for name, one in self.columns.items()}, ensure_ascii=False)


def has_bounds(kind: DataType) -> bool:
    """Whether least and greatest values of a type are kept: of numbers, dates, times and booleans."""
    root = kind.root if isinstance(kind, AtomicType) else ""
    return root in INTEGER_ROOTS or root in (
        "DECIMAL", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "BOOLEAN",
    )  # fmt: skip


def value_text(value: Any, kind: DataType) -> str | None:
    """The text of a least or greatest value; None for no value and for NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    root = kind.root if isinstance(kind, AtomicType) else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_float_text(value, single=root == "FLOAT")
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        utc = value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return utc.isoformat(" ", timespec="microseconds")
    if isinstance(value, date):
        return str((value - _EPOCH).days)
    return str(value)


def value_shown(text: str | None, kind: DataType) -> str | None:
    """A least or greatest value, formatted for display."""
    if text is not None and isinstance(kind, AtomicType) and kind.root == "DATE":
        return date.fromordinal(_EPOCH.toordinal() + int(text)).isoformat()
    return text
