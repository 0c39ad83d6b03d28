"""Java Paimon, the reference, reads what we wrote, writes and compacts on top of it, and we read that."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.interop.java_paimon import JavaPaimonError, multiset_of
from support.interop.ours import OurTable, rows_of
from support.interop.scenarios import play_deletes_with_a_sequence
from support.interop.shapes import ATOMIC, EVERYTHING, TIMES, value_rows

from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    AddPartitionField,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
)
from tablestore_engine.schema.types.types import AtomicType, DataField, RowType

ID, INT, TEXT = AtomicType("BIGINT"), AtomicType("INT"), AtomicType("STRING")
COLUMNS = {"id": ID, "day": INT, "text": TEXT}


@pytest.fixture
def same(java):
    """Check that Java finds the rows, and the columns, that the engine finds."""

    def check(table: OurTable, snapshot: int | None = None):
        own = table.read(snapshot)
        schema = table.table.schema
        columns, rows = java.read(table.table.path, snapshot)
        assert [c[0] for c in columns] == list(schema.field_names)
        expected = multiset_of(own, schema)
        assert rows == expected, [
            sorted((rows - expected).elements())[:5],
            sorted((expected - rows).elements())[:5],
        ]
        return own

    return check


def _rows(ids, text):
    return [{"id": i, "day": i % 3, "text": None if i % 7 == 0 else f"{text}{i}"} for i in ids]


LAYOUTS = {
    "one_bucket": (["id"], [], {"bucket": "1"}),
    "many_buckets": (["id"], [], {"bucket": "5"}),
    "partitioned": (["day", "id"], ["day"], {"bucket": "2"}),
    "small_files": (["id"], [], {"bucket": "1", "target-file-size": "1 kb"}),
    "dynamic": (["id"], [], {"bucket": "-1", "dynamic-bucket.target-row-num": "20"}),
    "dynamic_partitioned": (["day", "id"], ["day"], {"bucket": "-1", "dynamic-bucket.target-row-num": "20"}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_life_of_a_keyed_table(catalog, java, same, name, layout):
    key, partition, options = LAYOUTS[layout]
    table = OurTable.create(catalog, name, COLUMNS, key=key, partition=partition, options=options)
    more = OurTable.create(catalog, f"{name}_more", COLUMNS)
    same(table)
    table.write(_rows(range(100), "a"))
    same(table)
    table.write(_rows(range(80, 120), "b"))
    table.delete(_rows(range(0, 120, 4), "x"))
    own = same(table)
    assert own.num_rows == 90
    # Java upserts and deletes on top of our files; its own writer compacts when it sees fit.
    more.write(_rows(range(50, 60), "java"))
    java.ask("copy", table.table.path, more.table.path)
    found = {r["id"]: r["text"] for r in same(table).to_pylist()}
    assert found[51] == "java51"
    java.ask("delete", table.table.path, more.table.path)
    assert same(table).num_rows == len(found) - 10
    table.write(_rows(range(55, 65), "ours"))
    before = multiset_of(same(table), table.table.schema)
    table.compact(full=False)
    table.compact(full=True)
    assert multiset_of(same(table), table.table.schema) == before
    table.write(_rows(range(5), "late"))
    before = multiset_of(same(table), table.table.schema)
    java.ask("compact", table.table.path)
    assert multiset_of(same(table), table.table.schema) == before
    for snapshot in table.table.snapshots():
        same(table, snapshot.id)


@pytest.mark.parametrize("kind", [*ATOMIC, *TIMES])
def test_keys_of_every_type(catalog, java, same, name, kind):
    """Java's upserts find our rows and its compaction accepts our order: hash and order are the same."""
    sample = {**ATOMIC, **TIMES}[kind]
    table = OurTable.create(catalog, name, {"k": sample.type, "v": TEXT}, key=["k"], options={"bucket": "3"})
    table.write([{"k": k, "v": "first"} for k in sample.values])
    table.write([{"k": k, "v": "second"} for k in sample.values[::2]])
    same(table)
    more = OurTable.create(catalog, f"{name}_more", {"k": sample.type, "v": TEXT})
    more.write([{"k": k, "v": "java"} for k in sample.values[1:]])
    java.ask("copy", table.table.path, more.table.path)
    found = same(table)
    assert found.num_rows == len(sample.values)
    assert found.column("v").to_pylist().count("java") == len(sample.values) - 1
    java.ask("compact", table.table.path)
    same(table)
    table.compact(full=True)
    assert same(table).num_rows == len(sample.values)


@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
def test_values_of_every_type(catalog, same, name, key):
    samples = {**EVERYTHING, **TIMES}
    columns = {"id": ID, **{n: s.type for n, s in samples.items()}}
    table = OurTable.create(catalog, name, columns, key=key, options={"bucket": "2"} if key else {})
    for step in range(2):
        table.write([{"id": i + 40 * step, **r} for i, r in enumerate(value_rows(60, samples, step))])
        same(table)
    table.compact(full=True)
    same(table)


@pytest.mark.parametrize("kind", [k for k in ATOMIC if k != "bytes"])
def test_partitions_of_every_type(catalog, java, same, name, kind):
    """Java writes into the directories that we made, and no others: partition values have the same texts."""
    sample = ATOMIC[kind]
    table = OurTable.create(catalog, name, {"id": ID, "p": sample.type}, partition=["p"])
    table.write([{"id": i, "p": p} for i, p in enumerate((*sample.values, None))])
    same(table)
    directories = _directories(catalog, table)
    java.ask("copy", table.table.path, table.table.path)
    assert same(table).num_rows == 2 * len(sample.values) + 2
    assert _directories(catalog, table) == directories


def _directories(catalog, table):
    hidden = ("schema", "snapshot", "manifest", "tablestore")
    return {s.name for s in catalog.io.list(table.table.path) if s.is_dir and s.name not in hidden}


@pytest.mark.parametrize("layout", ["plain", "bucketed"])
def test_append_tables(catalog, java, same, name, layout):
    options = {"bucket": "3", "bucket-key": "id"} if layout == "bucketed" else {}
    table = OurTable.create(catalog, name, COLUMNS, options=options)
    for step in range(3):
        table.write(_rows(range(step, step + 30), f"s{step}-"))
        same(table)
    table.compact(full=True)
    java.ask("copy", table.table.path, table.table.path)
    assert same(table).num_rows == 180
    table.overwrite(_rows(range(3), "over"))
    same(table)
    table.truncate()
    same(table)


def test_added_columns(catalog, same, name):
    table = OurTable.create(catalog, name, {"id": ID}, key=["id"], options={"bucket": "1"})
    table.write([{"id": i} for i in range(5)])
    table.alter(AddColumn("list", EVERYTHING["array_row"].type), AddColumn("v", TEXT, "a comment"))
    same(table)
    table.write([{"id": i, "v": "x", "list": [{"a": 1, "b": None}]} for i in range(3, 8)])
    same(table)
    table.compact(full=True)
    same(table)


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_sequence_fields(catalog, same, name, order):
    options = {"bucket": "1", "sequence.field": "seq", "sequence.field.sort-order": order}
    table = OurTable.create(catalog, name, {"id": ID, "seq": INT, "v": TEXT}, key=["id"], options=options)
    for step in range(3):
        table.write([{"id": i, "seq": (i * 7 + step * 5) % 4, "v": f"{step}"} for i in range(20)])
        same(table)
    table.compact(full=True)
    same(table)


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_rows_without_a_sequence_lose(catalog, same, name, order):
    options = {"bucket": "1", "sequence.field": "seq", "sequence.field.sort-order": order}
    table = OurTable.create(catalog, name, {"id": ID, "seq": INT, "v": TEXT}, key=["id"], options=options)
    table.write([{"id": i, "seq": i, "v": "first"} for i in range(4)])
    table.write([{"id": i, "seq": None, "v": "none"} for i in range(4)])
    same(table)


@pytest.mark.parametrize("buckets", ["1", "3"])
def test_deletes_with_a_sequence(catalog, same, name, buckets):
    play_deletes_with_a_sequence(catalog, name, buckets, same)


def test_many_manifests(catalog, java, same, name):
    options = {"bucket": "2", "manifest.merge-min-count": "3"}
    table = OurTable.create(catalog, name, COLUMNS, key=["day", "id"], partition=["day"], options=options)
    for step in range(8):
        table.write(_rows(range(step * 5, step * 5 + 12), f"s{step}"))
        if step % 3 == 2:
            table.compact(full=True)
            java.ask("compact", table.table.path)
    same(table)
    for snapshot in table.table.snapshots():
        same(table, snapshot.id)


@pytest.mark.parametrize("key", [[], ["id"]])
def test_columns_that_we_change(catalog, java, same, name, key):
    """Java reads, writes and compacts a table whose columns we added, dropped, renamed, moved and retyped."""
    row = RowType((DataField(0, "x", INT), DataField(0, "y", TEXT)))
    table = OurTable.create(catalog, name, {**COLUMNS, "s": row}, key=key)
    table.write([{**one, "s": {"x": one["id"], "y": "y"}} for one in _rows(range(10), "a")])
    table.table.alter(
        DropColumn("text"), AddColumn("text", TEXT, first=True), RenameColumn("day", "weekday"),
        RetypeColumn("weekday", ID), MoveColumn("s", after="text"),
    )  # fmt: skip
    same(table)
    table.table.alter(AddColumn(("s", "z"), INT, after="x"), DropColumn("s.y"), RenameColumn("s.x", "first"))
    more = [{"id": i, "weekday": i * 10**10, "text": "b", "s": {"first": i, "z": i}} for i in range(5, 15)]
    table.write(more)
    same(table)
    if key:
        java.ask("compact", table.table.path)
        same(table)
    table.compact(full=True)
    assert same(table).num_rows == (15 if key else 20)


def test_tables_with_several_partition_layouts_are_refused(catalog, java, same, name):
    """Java would decode all partitions by the columns of today."""
    table = OurTable.create(catalog, name, COLUMNS, partition=["day"])
    table.write(_rows(range(1, 5), "a"))
    same(table)
    table.table.alter(AddPartitionField("text"))
    table.write(_rows(range(5, 9), "b"))
    assert table.read().num_rows == 8
    for verb in (lambda: java.read(table.table.path), lambda: java.ask("compact", table.table.path)):
        with pytest.raises(JavaPaimonError, match=r"Could not parse value 'tablestore-partitions'.*merge-engine"):
            verb()


def test_tables_that_count_rows_are_refused(catalog, java, same, name):
    """Java reads a table without a key until its first retraction, and refuses it from then on."""
    table = OurTable.create(catalog, name, COLUMNS)
    table.write(_rows(range(1, 5), "a"))
    same(table)
    deleted = rows_of(table.table.schema, _rows([2], "a")).append_column("_row_kind", pa.array(["-D"]))
    table.table.write(deleted)
    assert table.read().num_rows == 3
    before = table.table.latest_snapshot()
    path = table.table.path
    for verb in (
        lambda: java.read(path),
        lambda: java.read(path, 1),
        lambda: java.read(path, command="audit"),
        lambda: java.ask("copy", path, path),
        lambda: java.ask("compact", path),
    ):
        with pytest.raises(JavaPaimonError, match=r"Could not parse value 'tablestore-count'.*merge-engine"):
            verb()
    assert table.table.latest_snapshot() == before
    table.compact(full=True)
    with pytest.raises(JavaPaimonError, match="merge-engine"):
        java.read(path)
    assert table.read().num_rows == 3
