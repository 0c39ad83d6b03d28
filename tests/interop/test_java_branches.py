"""Branches of Java Paimon keep their files among those of the table: nothing that we do to the table takes them
away."""

from __future__ import annotations

import pytest
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable, rows_of_text

from tablestore_engine.errors import OptionError, TableStoreError, UserError
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.schema.types.types import AtomicType

COLUMNS = {"id": "BIGINT", "text": "STRING"}
OURS = {name: AtomicType(kind) for name, kind in COLUMNS.items()}
EVERYTHING = Retention(1, 1, 0, 1000)
LATER = 2**62


@pytest.fixture
def table(java, catalog, name):
    """A table with the branch `b`, which began at the tag `t`, and has rows of its own."""
    catalog.create_database("db", if_not_exists=True)
    path = f"{catalog.warehouse}/db.db/{name}"
    java.create(path, COLUMNS, key=["id"], options={"bucket": "1"})
    table = OurTable(catalog, "db", name)
    more = OurTable.create(catalog, f"{name}_more", OURS)
    table.write(rows_of_text(range(10), "main"))
    java.ask("tag", path, "t")
    java.ask("branch", path, "b", "t")
    more.write(rows_of_text(range(5, 15), "branch"))
    java.ask("copy", path, more.table.path, "branch=b")
    return table


def in_branch(java, table):
    return java.read(table.table.path, "branch=b")[1]


def test_we_never_remove_files_of_their_branches(java, java_reads, table):
    before = in_branch(java, table)
    assert sum(before.values()) == 15
    for step in range(3):
        table.write(rows_of_text(range(step, step + 10), f"s{step}-"))
        table.compact(full=True)
    own = java_reads(table)
    with pytest.raises(UserError, match="branch files of another program"):
        table.table.expire_snapshots(EVERYTHING)
    with pytest.raises(UserError, match="branch files of another program"):
        table.table.remove_orphan_files(LATER)
    # A write says so, and is done.
    table.table.write(own)
    table.table.delete_tag("t")
    table.truncate()
    assert in_branch(java, table) == before
    assert java_reads(table).num_rows == 0


def test_they_remove_nothing_of_ours(java, java_reads, table, spark_store):
    name = table.name.split(".")[1]
    for step in range(6):
        table.write(rows_of_text(range(step, step + 10), f"s{step}-"))
    table.table.create_tag("ours", 3)
    spark_store.sql(f"CALL sys.schedule_compaction(table => '{name}', strategy => 'full')")
    before = in_branch(java, table)
    own = java_reads(table)
    tagged = table.read(3)
    assert java.ask("orphans", table.table.path) == "0"
    spark_store.sql(f"CALL sys.run_compaction(table => '{name}')")
    assert java_reads(table).sort_by("id") == own.sort_by("id")
    java.ask("expire", table.table.path, "1")
    java.ask("orphans", table.table.path)
    assert java_reads(table).sort_by("id") == own.sort_by("id")
    assert in_branch(java, table) == before
    found = table.table.to_arrow(snapshot=table.table.version("ours"))
    assert multiset_of(found, table.table.schema) == multiset_of(tagged, table.table.schema)


def test_branches_are_not_read(java, table, spark_store):
    name = table.name.split(".")[1]
    with pytest.raises(TableStoreError, match="branch"):
        spark_store.sql(f"SELECT * FROM `{name}$branch_b`").collect()
    java.ask("alter", table.table.path, "set", "scan.fallback-branch", "b")
    with pytest.raises(OptionError, match=r"'scan\.fallback-branch' = 'b' is not supported"):
        table.read()


def test_we_write_on_after_their_rollback(java, java_reads, catalog, name):
    """Java cuts snapshots off; our next write begins where the table then ends."""
    table = OurTable.create(catalog, name, OURS, key=["id"], options={"bucket": "1"})
    for step in range(4):
        table.write(rows_of_text(range(step, step + 10), f"s{step}-"))
    wanted = table.read(2)
    java.ask("rollback", table.table.path, "2")
    assert table.table.latest_snapshot().id == 2
    assert java_reads(table).sort_by("id") == wanted.sort_by("id")
    table.write(rows_of_text(range(3), "again"))
    assert table.table.latest_snapshot().id == 3
    assert java_reads(table).num_rows == wanted.num_rows
    table.compact(full=True)
    java_reads(table)
    java.ask("expire", table.table.path, "1")
    java.ask("orphans", table.table.path)
    own = java_reads(table)
    table.table.remove_orphan_files(LATER)
    assert java_reads(table) == own
