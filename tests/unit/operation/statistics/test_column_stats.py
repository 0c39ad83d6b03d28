"""Statistics of rows that are written table by table, for formats whose files have none of their own."""

from __future__ import annotations

import pyarrow as pa

from tablestore_engine.operation.statistics.column_stats import ColumnStats, RowStats

SCHEMA = pa.schema([("n", pa.int32()), ("t", pa.timestamp("us"))])
BEYOND = 400_000_000_000_000_000  # microseconds: the year 14645, which Python does not have


def test_a_time_beyond_the_year_9999_has_no_bounds():
    stats = RowStats(SCHEMA)
    for n, t in ((1, 0), (2, BEYOND), (3, None), (4, 5)):
        stats.add(pa.table([pa.array([n], pa.int32()), pa.array([t], pa.timestamp("us"))], schema=SCHEMA))
    assert stats.of(["n", "t"], lambda _: "full") == {"n": ColumnStats(1, 4, 0), "t": ColumnStats(None, None, 1)}
