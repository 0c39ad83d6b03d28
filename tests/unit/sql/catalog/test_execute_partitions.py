"""DROP PARTITION in a warehouse on disk."""

from __future__ import annotations

from datetime import date

import pytest
from support.execute_door import NOW, door  # noqa: F401

from tablestore_engine.errors import (
    NotFoundError,
    SqlError,
)


def test_drop_partition(door):
    door.run("create table t (dt date, hr int, v int) partitioned by (dt, hr)")
    days = [date(2024, 1, n) for n in (1, 2, 3)]
    door.insert("t", [{"dt": dt, "hr": hr, "v": 1} for dt in days for hr in (0, 1)])
    result = door.run(
        "alter table t drop partition (dt = '2024-01-01', hr = 0), partition (dt = date '2024-01-02') purge"
    )
    assert result.kind == "DROP PARTITION"
    left = ["dt=2024-01-01/hr=1", "dt=2024-01-03/hr=0", "dt=2024-01-03/hr=1"]
    assert door.column("show partitions t") == left
    with pytest.raises(NotFoundError, match=r"no partition \(dt = 2024-01-02\).*IF EXISTS"):
        door.run("alter table t drop partition (hr = 1), partition (dt = '2024-01-02')")
    assert door.column("show partitions t") == left, "all or nothing"
    door.run("alter table t drop if exists partition (dt = '2024-01-02')")
    assert door.column("show partitions t") == left
    assert len(door.catalog.load_table("default", "t").snapshots()) == 2
    with pytest.raises(SqlError, match="'v' is not a partition column"):
        door.run("alter table t drop partition (v = 1)")
    with pytest.raises(SqlError, match="needs a value"):
        door.run("alter table t drop partition (dt)")
    door.run("create table plain (a int)")
    with pytest.raises(SqlError, match="not partitioned"):
        door.run("alter table plain drop partition (a = 1)")
