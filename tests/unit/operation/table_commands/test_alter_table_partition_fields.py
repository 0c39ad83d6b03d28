"""Files in the folders of before and of now: what is live, pruned, merged, dropped, restored and removed."""

from __future__ import annotations

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.tables import compact, make_table, read, reload, write

from tablestore_engine.errors import ConflictError
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.metadata_commands import merge_manifests
from tablestore_engine.schema.table.predicate import And, Compare
from tablestore_engine.schema.table.schema_changes import (
    AddPartitionField,
    DropColumn,
    DropPartitionField,
    RenameColumn,
    RetypeColumn,
    SetOption,
)
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"dt": "STRING", "hr": "INT", "v": "INT"}


def row(dt, hr, v):
    return {"dt": dt, "hr": hr, "v": v}


def found(table, predicate=None):
    """The values in the files that a scan reads."""
    table = reload(table)
    paths = {bucket.partition_path for bucket in table.scan(predicate=predicate).buckets}
    return sorted(paths)


@pytest.fixture
def table(tmp_path):
    table = make_table(tmp_path, COLUMNS, (), ["dt"], {"manifest.merge-min-count": "100"})
    write(table, [row("a", 1, 1), row("a", 2, 2)])
    write(table, [row("b", 1, 3)])
    table = table.alter(AddPartitionField("hr"))
    write(table, [row("a", 1, 4), row("a", 3, 5)])
    return reload(table)


def test_both_layouts_are_read_and_pruned(table):
    assert sorted(r["v"] for r in read(table)) == [1, 2, 3, 4, 5]
    assert found(table) == ["dt=a", "dt=a/hr=1", "dt=a/hr=3", "dt=b"]
    for _ in ("several manifests", "one manifest"):
        assert found(table, Compare("hr", "=", 3)) == ["dt=a/hr=3"], "by the statistics of the others"
        assert found(table, Compare("hr", "=", 2)) == ["dt=a"]
        assert found(table, And((Compare("dt", "=", "a"), Compare("hr", "=", 1)))) == ["dt=a", "dt=a/hr=1"]
        assert found(table, Compare("dt", "=", "b")) == ["dt=b"]
        merge_manifests(table.state)
    check_invariants(reload(table))


NULLS = SetOption("schema.evolution.cast", "explicit-null")
OTHERS = {
    "renamed": ("q", "7", "8", [RenameColumn("dt", "q"), AddPartitionField("q")]),
    "with another type": ("dt", 7, 8, [NULLS, RetypeColumn("dt", parse_type("INT")), AddPartitionField("dt")]),
    "another column of the name": ("dt", 1, 2, [DropColumn("dt"), RenameColumn("hr", "dt"), AddPartitionField("dt")]),
    "names swapped": ("dt", 1, 2, [RenameColumn("dt", "x"), RenameColumn("hr", "dt"), AddPartitionField("dt")]),
}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("what", OTHERS)
def test_a_former_partition_column_comes_back_as_another(tmp_path, what, at_once):
    table = make_table(tmp_path, COLUMNS, (), ["dt"])
    write(table, [row("7", 1, 1), row("8", 2, 2)])
    key, first, second, changes = OTHERS[what]
    changes = [DropPartitionField("dt"), *changes]
    for some in [changes] if at_once else [[one] for one in changes]:
        table = table.alter(*some)
    write(reload(table), [{**dict.fromkeys(table.schema.field_names), key: first, "v": 3}])
    for _ in ("as written", "compacted"):
        assert sorted((one["v"], one[key]) for one in read(reload(table))) == [(1, first), (2, second), (3, first)]
        assert {f"{key}={first}", "dt=7"} <= set(found(table, Compare(key, "=", first)))
        check_invariants(reload(table))
        compact(reload(table), full=True)


def test_a_compaction_leaves_a_folder_where_it_is(table):
    for n in range(6):
        write(reload(table).with_schema(table.schema), [row("b", n % 2, n)])
    before = sorted(map(repr, read(table)))
    compact(reload(table), full=True)
    assert sorted(map(repr, read(reload(table)))) == before
    assert found(table) == ["dt=a", "dt=a/hr=1", "dt=a/hr=3", "dt=b", "dt=b/hr=0", "dt=b/hr=1"]
    check_invariants(reload(table))


def test_an_earlier_write_conflicts(tmp_path):
    before = make_table(tmp_path, COLUMNS, (), ["dt"])
    write(before, [row("a", 1, 1)])
    before.alter(AddPartitionField("hr"))
    with pytest.raises(ConflictError):
        write(before, [row("a", 1, 2)])
    assert [r["v"] for r in read(reload(before))] == [1]


def test_back_to_fewer_columns_and_to_an_earlier_snapshot(table):
    daily = table.alter(DropPartitionField("hr"))
    write(daily, [row("a", 9, 6)])
    assert found(daily) == ["dt=a", "dt=a", "dt=a/hr=1", "dt=a/hr=3", "dt=b"][1:]
    assert sorted(r["v"] for r in read(daily)) == [1, 2, 3, 4, 5, 6]
    assert sorted(r["v"] for r in read(daily, snapshot=daily.snapshot(2))) == [1, 2, 3]
    reload(daily).roll_back(4)
    assert sorted(r["v"] for r in read(reload(daily))) == [1, 2, 3, 4, 5]
    now = reload(daily)
    assert now.schema.partition_keys == ("dt",)
    while now.expire_snapshots(Retention(1, 1, 0, 100), 2**60):
        continue
    assert live_paths(now) == data_files(now)
    check_invariants(now)
