"""Hints behind tables that are read: states of the table, and options for one query."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

from tablestore_engine.errors import OptionError, SnapshotNotFound, TagNotFound, UserError

pytestmark = pytest.mark.spark


def test_hints_at_tables(store):
    store.execute("CREATE TABLE t (id INT)")
    for n in (1, 2, 3):
        store.execute(f"INSERT INTO t VALUES ({n})")
    table = store.table("t")
    table.create_tag("first", 1)
    table.create_tag("it's", 1)
    second = table.snapshot(2).time_millis
    for hint, wanted in (
        ("'scan.snapshot-id' = '2'", [(1,), (2,)]),
        ("'scan.tag-name' = 'first'", [(1,)]),
        ("'scan.tag-name' = 'it\\'s'", [(1,)]),
        (f"'scan.timestamp-millis' = '{second}'", [(1,), (2,)]),
        ("'scan.timestamp' = '2999-01-01'", [(1,), (2,), (3,)]),
        ("'scan.mode' = 'latest-full'", [(1,), (2,), (3,)]),
        ("'file-index.read.enabled' = 'false'", [(1,), (2,), (3,)]),
        ("'incremental-between' = '1,2'", [(2,)]),
        ("'incremental-between' = 'first,3', 'file-index.read.enabled' = 'false'", [(2,), (3,)]),
    ):
        assert rows(store, f"SELECT * FROM t /*+ OPTIONS({hint}) */") == wanted, hint
        assert rows(store, f"SELECT * FROM t WITH ({hint})") == wanted, hint
    both = "SELECT a.id, t.id FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */ JOIN t AS a ON true"
    assert len(rows(store, both)) == 3
    store.execute("INSERT INTO t SELECT id + 10 FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */")
    assert rows(store)[-1] == (11,)
    for hint, error in (
        ("'scan.snapshot-id' = '99'", SnapshotNotFound),
        ("'scan.tag-name' = 'nope'", TagNotFound),
        ("'incremental-between' = '2,1'", UserError),
        ("'incremental-between' = '1'", OptionError),
        ("'incremental-between' = '1,2', 'scan.snapshot-id' = '1'", OptionError),
        ("'scan.fallback-branch' = 'b'", OptionError),
        ("'bucket' = '2'", OptionError),
        ("'scan.snapshot-idd' = '2'", OptionError),
    ):
        with pytest.raises(error):
            store.sql(f"SELECT * FROM t /*+ OPTIONS({hint}) */").collect()
        with pytest.raises(error):
            store.sql(f"SELECT * FROM t WITH ({hint})").collect()
