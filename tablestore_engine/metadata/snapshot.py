"""A snapshot: one committed state of a table.

Vocabulary: the *base* manifest list holds everything before the commit, the *delta* manifest list what the commit
did; both together are the table. *commit user* and *commit identifier* name the commit, so that a repeated commit is
recognised. ``properties`` become visible with the snapshot, such as the offsets that a committer has consumed.

Invariant: a snapshot file is created once and never changed; ids are contiguous from 1 but for expired ones. The
JSON form is persisted; keys that this engine does not know are kept in ``extra``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CURRENT_VERSION = 3
NO_ROWS = ("COMPACT", "ANALYZE")
"""Kinds of commits that change no row."""

_NO_WATERMARK = -(2**63)


@dataclass(frozen=True)
class Snapshot:
    """One snapshot. Sizes in bytes, times in milliseconds since 1970, counts in rows."""

    id: int
    schema_id: int
    base_manifest_list: str
    base_manifest_list_size: int | None
    delta_manifest_list: str
    delta_manifest_list_size: int | None
    commit_user: str
    commit_identifier: int
    commit_kind: str
    time_millis: int
    total_record_count: int
    delta_record_count: int
    changelog_manifest_list: str | None = None
    changelog_manifest_list_size: int | None = None
    index_manifest: str | None = None
    changelog_record_count: int | None = 0
    watermark: int | None = None
    statistics: str | None = None
    properties: Mapping[str, str] | None = None
    uuid: str | None = None
    version: int = CURRENT_VERSION
    next_row_id: int | None = None
    writer_version: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reached_watermark(self) -> int | None:
        """The watermark; None also for the least number, which Flink writes where none was reached yet."""
        return None if self.watermark == _NO_WATERMARK else self.watermark

    @property
    def mark(self) -> str:
        """Distinguishes it from a snapshot of the same number in another table, or in one that was built anew."""
        return self.uuid or str(self.time_millis)

    def to_json(self) -> str:
        """The persisted form, without the keys whose value is None."""
        data = {key: getattr(self, name) for key, name in _KEYS.items()}
        if self.properties is not None:
            data["properties"] = dict(self.properties)
        data.update(self.extra)
        kept = {key: value for key, value in data.items() if value is not None}
        return json.dumps(kept, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Snapshot:
        """The snapshot of a persisted text.

        Raises:
            ValueError, KeyError, TypeError: the text is not a snapshot.
        """
        data = json.loads(text)
        if not isinstance(data, dict):
            raise TypeError("it is not a JSON object")
        for key in _REQUIRED:
            if data.get(key) is None:
                raise ValueError(f"'{key}' is missing")
        values = {name: data.pop(key) for key, name in _KEYS.items() if key in data}
        values.setdefault("version", 1)
        values.setdefault("base_manifest_list_size", None)
        values.setdefault("delta_manifest_list_size", None)
        # The first versions of the format did not count rows.
        values.setdefault("total_record_count", 0)
        values.setdefault("delta_record_count", 0)
        return cls(**values, extra=data)


_KEYS = {
    "version": "version",
    "uuid": "uuid",
    "id": "id",
    "schemaId": "schema_id",
    "baseManifestList": "base_manifest_list",
    "baseManifestListSize": "base_manifest_list_size",
    "deltaManifestList": "delta_manifest_list",
    "deltaManifestListSize": "delta_manifest_list_size",
    "changelogManifestList": "changelog_manifest_list",
    "changelogManifestListSize": "changelog_manifest_list_size",
    "indexManifest": "index_manifest",
    "commitUser": "commit_user",
    "writerVersion": "writer_version",
    "commitIdentifier": "commit_identifier",
    "commitKind": "commit_kind",
    "timeMillis": "time_millis",
    "totalRecordCount": "total_record_count",
    "deltaRecordCount": "delta_record_count",
    "changelogRecordCount": "changelog_record_count",
    "watermark": "watermark",
    "statistics": "statistics",
    "properties": "properties",
    "nextRowId": "next_row_id",
}
_REQUIRED = (
    "id", "schemaId", "baseManifestList", "deltaManifestList", "commitUser", "commitIdentifier", "commitKind",
    "timeMillis",
)  # fmt: skip
