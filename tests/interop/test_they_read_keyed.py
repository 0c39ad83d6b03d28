"""Keyed tables that we wrote, as other readers see them: after every step of their life, and in the past."""

from __future__ import annotations

from decimal import Decimal

import pytest
from support.interop.ours import OurTable
from support.interop.scenarios import play_deletes_with_a_sequence
from support.interop.shapes import ATOMIC, EVERYTHING, SPECIAL, TIMES, value_rows

from tablestore_engine.schema.types.types import AtomicType

ID, TEXT, AMOUNT = AtomicType("BIGINT"), AtomicType("STRING"), AtomicType("DECIMAL", True, 12, 2)
COLUMNS = {"id": ID, "text": TEXT, "amount": AMOUNT}


def _rows(ids, text):
    """Rows whose keys follow from their number, and whose values also from `text`; some values are null."""
    return [
        {
            "id": i,
            "code": f"c{i % 3}",
            "day": i % 4,
            "text": None if i % 7 == 0 else f"{text}{i}",
            "amount": None if i % 5 == 0 else Decimal(i) + Decimal("0.25"),
        }
        for i in ids
    ]


LAYOUTS = {
    "one_bucket": ({}, ["id"], [], {"bucket": "1"}),
    "many_buckets": ({}, ["id"], [], {"bucket": "7"}),
    "composite_key": ({"code": TEXT}, ["code", "id"], [], {"bucket": "3"}),
    "key_after_values": ({"code": TEXT}, ["id", "code"], [], {"bucket": "2"}),
    "bucket_key": ({"code": TEXT}, ["id", "code"], [], {"bucket": "3", "bucket-key": "code"}),
    "partitioned": ({"day": AtomicType("INT")}, ["day", "id"], ["day"], {"bucket": "2"}),
    "partition_last_in_key": ({"day": AtomicType("INT")}, ["id", "day"], ["day"], {"bucket": "2"}),
    "small_files": ({}, ["id"], [], {"bucket": "1", "target-file-size": "1 kb"}),
    "snappy": (
        {},
        ["id"],
        [],
        {"bucket": "1", "file.compression": "snappy", "manifest.compression": "deflate"},
    ),
    "lz4": ({}, ["id"], [], {"bucket": "1", "file.compression": "lz4", "manifest.compression": "snappy"}),
    "no_statistics": ({}, ["id"], [], {"bucket": "1", "metadata.stats-mode": "none"}),
    "some_statistics": (
        {},
        ["id"],
        [],
        {
            "bucket": "2",
            "metadata.stats-mode": "counts",
            "fields.id.stats-mode": "full",
            "fields.text.stats-mode": "none",
        },
    ),
    "sparse_statistics": (
        {},
        ["id"],
        [],
        {"bucket": "2", "fields.text.stats-mode": "none", "metadata.stats-dense-store": "false"},
    ),
    "names_of_files": (
        {},
        ["id"],
        [],
        {"bucket": "1", "data-file.prefix": "orders-", "commit.user-prefix": "me"},
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_life_of_a_keyed_table(catalog, all_read, name, layout):
    more, key, partition, options = LAYOUTS[layout]
    options = {**options, "num-sorted-run.compaction-trigger": "4"}
    columns = {**COLUMNS, **more} if layout != "key_after_values" else {**more, "text": TEXT, **COLUMNS}
    table = OurTable.create(catalog, name, columns, key=key, partition=partition, options=options)

    all_read(table)  # no snapshot yet
    table.write(_rows(range(300), "bulk"))
    assert set(table.levels()) == {4}
    assert all_read(table).num_rows == 300
    table.write(_rows(range(250, 340), "bulk-up"))
    table.write(_rows(range(0, 340, 5), "bulk-again"))
    assert all_read(table).num_rows == 340
    table.delete(_rows(range(0, 340, 3), "bulk"))
    assert 0 in table.levels()
    assert all_read(table).num_rows == 340 - 114
    table.write(_rows(range(9), "back"))
    all_read(table)

    before = table.read()
    assert table.compact(full=False) is not None  # universal
    all_read(table, before)
    table.write(_rows(range(10, 40), "bulk-new"))
    table.delete(_rows(range(35, 45), "bulk"))
    before = all_read(table)
    assert table.compact(full=True) is not None
    assert set(table.levels()) == {4}
    all_read(table, before)
    for snapshot in table.table.snapshots():
        all_read(table, snapshot=snapshot.id)


@pytest.mark.parametrize("kind", [*ATOMIC, *TIMES])
def test_keys_of_every_type(catalog, all_read, name, kind):
    sample = {**ATOMIC, **TIMES}[kind]
    columns = {"v": ID, "k": sample.type}
    table = OurTable.create(catalog, name, columns, key=["k"], options={"bucket": "3"})
    table.write([{"k": k, "v": i} for i, k in enumerate(sample.values)])
    all_read(table)
    table.write([{"k": k, "v": 100 + i} for i, k in enumerate(sample.values[::2])])
    table.delete([{"k": k} for k in sample.values[1::3]])
    left = all_read(table)
    assert left.num_rows == len(sample.values) - len(sample.values[1::3])
    table.compact(full=True)
    all_read(table, left)


def test_composite_key_of_many_types(catalog, all_read, name):
    chosen = {n: ATOMIC[n] for n in ("string", "decimal_wide", "timestamp_6", "smallint", "date")}
    columns = {"v": TEXT, **{n: s.type for n, s in chosen.items()}}
    table = OurTable.create(
        catalog, name, columns, key=["timestamp_6", "string", "smallint", "date", "decimal_wide"],
        options={"bucket": "4"},
    )  # fmt: skip
    rows = [
        {
            "v": str(i),
            **{n: s.values[i // (at + 1) % len(s.values)] for at, (n, s) in enumerate(chosen.items())},
        }
        for i in range(60)
    ]
    table.write(rows)
    table.write([{**r, "v": "new"} for r in rows[::2]])
    table.delete(rows[:10])
    before = all_read(table)
    table.compact(full=True)
    all_read(table, before)


def test_values_of_every_type(catalog, all_read, name):
    columns = {"id": ID, **{n: s.type for n, s in EVERYTHING.items()}}
    table = OurTable.create(catalog, name, columns, key=["id"], options={"bucket": "2"})

    def rows(ids, shift):
        return [{"id": i, **r} for i, r in zip(ids, value_rows(len(ids), EVERYTHING, shift), strict=True)]

    table.write(rows(range(60), 0))
    all_read(table)
    table.write(rows(range(40, 80), 3))
    table.delete(rows(range(5), 0))
    before = all_read(table)
    table.compact(full=True)
    all_read(table, before)


@pytest.mark.parametrize("value", [None, ""])
def test_columns_without_any_value(catalog, all_read, name, value):
    columns = {"id": ID, "t": TEXT, "b": AtomicType("BYTES")}
    table = OurTable.create(catalog, name, columns, key=["id"], options={"bucket": "1"})
    table.write([{"id": i, "t": value, "b": value and value.encode()} for i in range(5)])
    table.write([{"id": 2, "t": value}])
    all_read(table)


@pytest.mark.parametrize(
    ("fields", "order"),
    [("seq", "ascending"), ("seq", "descending"), ("seq,other", "ascending")],
    ids=["one", "descending", "two"],
)
def test_sequence_fields(catalog, all_read, name, fields, order):
    columns = {"id": ID, "seq": AtomicType("INT"), "other": AtomicType("TIMESTAMP", True, 6), "v": TEXT}
    options = {"bucket": "1", "sequence.field": fields}
    if order != "ascending":
        options["sequence.field.sort-order"] = order
    table = OurTable.create(catalog, name, columns, key=["id"], options=options)
    stamps = ATOMIC["timestamp_6"].values
    for step in range(3):
        table.write(
            [{"id": i, "seq": (i * 7 + step * 5) % 4, "other": stamps[(i + step) % len(stamps)], "v": f"{step}-{i}"}
             for i in range(40)]
        )  # fmt: skip
        all_read(table)
    before = all_read(table)
    table.compact(full=True)
    all_read(table, before)


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_rows_without_a_sequence_lose(catalog, all_read, name, order):
    columns = {"id": ID, "seq": AtomicType("INT"), "v": TEXT}
    options = {"bucket": "1", "sequence.field": "seq", "sequence.field.sort-order": order}
    table = OurTable.create(catalog, name, columns, key=["id"], options=options)
    table.write([{"id": i, "seq": None if i % 4 == 3 else i, "v": "first"} for i in range(12)])
    table.write([{"id": i, "seq": None, "v": "none"} for i in range(0, 12, 2)])
    table.write([{"id": i, "seq": 3, "v": "late"} for i in range(0, 12, 3)])
    before = all_read(table)
    table.compact(full=True)
    all_read(table, before)


@pytest.mark.parametrize("kind", ["float_special", "double_special"])
def test_keys_that_are_no_number(catalog, all_read, name, kind):
    sample = SPECIAL[kind]
    keys = [k for k in sample.values if k != 0]
    table = OurTable.create(catalog, name, {"k": sample.type, "v": TEXT}, key=["k"], options={"bucket": "1"})
    table.write([{"k": k, "v": "one"} for k in keys])
    table.write([{"k": k, "v": "two"} for k in keys])
    found = all_read(table)
    assert found.column("v").to_pylist() == ["two"] * len(keys)
    table.compact(full=True)
    all_read(table, found)


@pytest.mark.parametrize("buckets", ["1", "3"])
def test_deletes_with_a_sequence(catalog, all_read, name, buckets):
    play_deletes_with_a_sequence(catalog, name, buckets, all_read)


def test_everything_deleted(catalog, all_read, name):
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "2"})
    rows = _rows(range(20), "x")
    table.write(rows)
    table.delete(rows)
    assert all_read(table).num_rows == 0
    table.compact(full=True)
    assert table.levels() == []
    all_read(table)
    table.write(rows)
    assert all_read(table).num_rows == 20


def test_only_deletes(catalog, all_read, name):
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "1"})
    table.delete([{"id": 1}])
    assert all_read(table).num_rows == 0
    table.write([{"id": 1, "text": "here"}])
    assert all_read(table).num_rows == 1


def test_many_snapshots_and_merged_manifests(catalog, all_read, name):
    options = {"bucket": "2", "manifest.merge-min-count": "3", "manifest.target-file-size": "16 kb"}
    table = OurTable.create(
        catalog,
        name,
        {**COLUMNS, "day": AtomicType("DATE")},
        key=["day", "id"],
        partition=["day"],
        options=options,
    )
    days = ATOMIC["date"].values[1:4]
    for step in range(14):
        rows = [{**r, "day": days[step % 3]} for r in _rows(range(step * 10, step * 10 + 25), f"s{step}")]
        table.write(rows)
        if step % 5 == 4:
            table.compact(full=step % 2 == 0)
    assert len(table.table.manifests.read_list(table.table.latest_snapshot().base_manifest_list)) < 10
    all_read(table)
    for snapshot in table.table.snapshots():
        all_read(table, snapshot=snapshot.id)


def test_truncate_and_overwrite(catalog, all_read, name):
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "2"})
    table.write(_rows(range(30), "x"))
    table.write(_rows(range(10, 40), "y"))
    table.overwrite(_rows(range(5, 15), "z"))
    assert all_read(table).num_rows == 10
    table.truncate()
    assert all_read(table).num_rows == 0
    table.write(_rows(range(3), "again"))
    assert all_read(table).num_rows == 3
    for snapshot in table.table.snapshots():
        all_read(table, snapshot=snapshot.id)
