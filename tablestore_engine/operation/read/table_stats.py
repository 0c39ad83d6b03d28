"""The figures of a table: rows, files, sizes, buckets and partitions of its latest snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.read.row_count import RowCount


@dataclass(frozen=True)
class TableStats:
    """Figures of a table's latest snapshot. Sizes in bytes.

    If many rows have to merge, `row_count` is not exact: it counts a row for each update since the last compaction.
    """

    row_count: int
    bytes: int
    files: int
    last_modified_millis: int | None
    snapshots: int
    buckets: int
    partitions: int
    row_count_exact: bool = True

    @property
    def row_count_text(self) -> str:
        """The number of rows as readable text."""
        return RowCount(self.row_count, self.row_count_exact).text


NO_STATS: Final = TableStats(0, 0, 0, None, 0, 0, 0)
"""Those of a table that was never written."""


def table_stats(
    entries: Sequence[ManifestEntry], counted: RowCount, last_modified_millis: int | None, snapshots: int
) -> TableStats:
    """The figures of a snapshot with these live files."""
    return TableStats(
        row_count=counted.rows,
        bytes=sum(e.file.file_size for e in entries),
        files=len(entries),
        last_modified_millis=last_modified_millis,
        snapshots=snapshots,
        # Dynamic buckets are numbered from 0 as they open.
        buckets=max((e.total_buckets if e.total_buckets > 0 else e.bucket + 1 for e in entries), default=0),
        partitions=len({e.partition for e in entries}),
        row_count_exact=counted.exact,
    )
