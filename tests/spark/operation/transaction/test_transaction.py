"""Writes by SQL, from a DataFrame and from Arrow are one transaction: a table looks the same after each of them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.invariants import check_invariants

pytestmark = pytest.mark.spark

KEEP_TWO = "'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '2'"


def by_sql(store, name, rows):
    columns = list(rows[0])
    values = ", ".join(f"({', '.join(repr(row[c]) for c in columns)})" for row in rows)
    store.execute(f"INSERT INTO {name} ({', '.join(columns)}) VALUES {values}")


def by_frame(store, name, rows):
    store.write(name, store.spark.createDataFrame(pa.Table.from_pylist(rows)))


def by_arrow(store, name, rows):
    store.table(name).write(pa.Table.from_pylist(rows))


WAYS = {"sql": by_sql, "frame": by_frame, "arrow": by_arrow}


def look_of(table):
    """What a write leaves: snapshots and their schemas, live files and theirs, and rows."""
    check_invariants(table)
    return {
        "snapshots": [(s.id, s.commit_kind, s.schema_id, s.total_record_count) for s in table.snapshots()],
        "files": sorted(
            (e.file.schema_id, e.file.level, e.file.row_count, e.file.delete_row_count, e.file.file_source)
            for e in table.live_files()
        ),
        "rows": sorted(map(str, table.to_arrow().to_pylist())),
    }


def test_after_a_column_was_added(store):
    """Each compacts at the third run, with the new column, and expires what is due."""
    found = {}
    for name, write in WAYS.items():
        store.execute(
            f"CREATE TABLE {name} (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)"
            f" WITH ('bucket' = '1', 'num-sorted-run.compaction-trigger' = '3', {KEEP_TWO})"
        )
        write(store, name, [{"id": 1, "v": 1}, {"id": 2, "v": 1}])
        write(store, name, [{"id": 1, "v": 2}])
        store.execute(f"ALTER TABLE {name} ADD COLUMNS (w INT)")
        write(store, name, [{"id": 2, "v": 3, "w": 3}])
        found[name] = look_of(store.table(name))
    assert found["sql"] == found["frame"] == found["arrow"]
    assert [kind for _, kind, _, _ in found["sql"]["snapshots"]] == ["APPEND", "COMPACT"], "two are kept"
    assert [schema for schema, *_ in found["sql"]["files"]] == [1]


def test_after_a_write_that_changes_the_schema_itself(store):
    """The first retraction makes a table without a key count its rows; old snapshots expire after it as ever."""
    found = {}
    for name, write in WAYS.items():
        store.execute(f"CREATE TABLE {name} (id INT, v INT) WITH ({KEEP_TWO})")
        for v in range(3):
            write(store, name, [{"id": 1, "v": v}])
        before = store.table(name).schema.id
        write(store, name, [{"_row_kind": "-D", "id": 1, "v": 0}])
        table = store.table(name)
        assert table.schema.id > before
        found[name] = look_of(table)
    assert found["sql"] == found["frame"] == found["arrow"]
    assert [number for number, *_ in found["sql"]["snapshots"]] == [3, 4], "two are kept"


def test_after_a_replacement_old_snapshots_expire(store):
    """By the options of the new schema, also where it has other partitions."""
    store.execute("CREATE TABLE t (id INT, v INT)")
    for v in range(3):
        by_arrow(store, "t", [{"id": 1, "v": v}])
    store.execute(f"CREATE OR REPLACE TABLE t PARTITIONED BY (p) WITH ({KEEP_TWO}) AS SELECT 1 AS id, 'a' AS p")
    table = store.table("t")
    assert [one.id for one in table.snapshots()] == [3, 4]
    assert table.to_arrow(snapshot=table.snapshot(4)).to_pylist() == [{"id": 1, "p": "a"}]
    store.execute(f"CREATE OR REPLACE TABLE t (id INT) WITH ({KEEP_TWO})")
    assert [one.id for one in store.table("t").snapshots()] == [4, 5]
