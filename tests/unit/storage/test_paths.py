"""The names of the format, and names that cannot be."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import UserError
from tablestore_engine.storage.paths import TablePaths, WarehousePaths, schema_id_of, snapshot_id_of

TABLE = TablePaths("/w/d.db/t")


def test_names_of_the_format():
    assert TABLE.schema(0) == "/w/d.db/t/schema/schema-0"
    assert TABLE.snapshot(7) == "/w/d.db/t/snapshot/snapshot-7"
    assert TABLE.latest_hint == "/w/d.db/t/snapshot/LATEST"
    assert TABLE.earliest_hint == "/w/d.db/t/snapshot/EARLIEST"
    assert TABLE.manifest("m") == "/w/d.db/t/manifest/m"
    assert TABLE.new_manifest_name("u", 2) == "manifest-u-2"
    assert TABLE.new_manifest_list_name("u", 2) == "manifest-list-u-2"
    assert TABLE.bucket_dir("dt=1/hr=2", 3) == "/w/d.db/t/dt=1/hr=2/bucket-3"
    assert TABLE.bucket_dir("", 0) == "/w/d.db/t/bucket-0"
    assert TABLE.bucket_dir("", -2) == "/w/d.db/t/bucket-postpone"
    assert TABLE.new_data_file_name("u", 1) == "data-u-1.parquet"
    assert TABLE.new_file_index_name("data-u-1.orc") == "data-u-1.orc.index"
    assert TABLE.new_file_index_name("data-u-1.orc", "w-0") == "data-u-1.orc.w-0.index"
    assert TABLE.side_file("x") == "/w/d.db/t/tablestore/x"


def test_ids_in_names():
    assert snapshot_id_of("snapshot-12") == 12
    assert schema_id_of("schema-0") == 0
    for name in ("snapshot-", "snapshot-1.tmp", ".snapshot-1.x.tmp", "LATEST", "snapshot--1"):
        assert snapshot_id_of(name) is None


def test_warehouse():
    warehouse = WarehousePaths("/w")
    assert warehouse.table_dir("d", "t") == "/w/d.db/t"
    assert warehouse.hidden_table_dir("d", "t", "u1") == "/w/d.db/.t.u1"
    assert warehouse.database_of("d.db") == "d"
    for name in ("d", ".d.db", ".db"):
        assert warehouse.database_of(name) is None


@pytest.mark.parametrize("name", ["", ".hidden", "..", "a/b", "a\\b", " a", "a\n", "x" * 201])
def test_names_that_would_leave_the_warehouse(name):
    for make in (
        lambda: WarehousePaths("/w").table_dir("d", name),
        lambda: WarehousePaths("/w").database_dir(name),
    ):
        with pytest.raises(UserError):
            make()
