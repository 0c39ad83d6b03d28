"""Which files a read opens."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from support.files import files_read
from support.tables import make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CorruptMetadataError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.operation.scan.plan_scan import live_entries, plan_scan
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, IsNull
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type


@pytest.fixture
def table(tmp_path):
    """3 days × 4 buckets of 100 ids each, and one upsert of id 7 of the second day."""
    columns = {"day": "DATE", "id": "INT", "v": "INT"}
    made = make_table(tmp_path, columns, ["day", "id"], ["day"], {"bucket": "4"})
    write(made, [{"day": date(2024, 1, d), "id": i, "v": d} for d in (1, 2, 3) for i in range(100)])
    write(made, [{"day": date(2024, 1, 2), "id": 7, "v": 100}])
    return made


@pytest.mark.parametrize(
    ("predicate", "files"),
    [
        (None, 13),
        (Compare("day", "=", date(2024, 1, 2)), 5),
        (Compare("day", "=", "2024-01-01"), 4),
        (Compare("day", ">", "2024-01-01"), 9),
        (In("day", (date(2024, 1, 1), date(2024, 1, 3))), 8),
        (Compare("day", "=", "2025-01-01"), 0),
        (IsNull("day"), 0),
        (Compare("id", "=", 7), 4),
        (And((Compare("day", "=", "2024-01-01"), Compare("id", "=", 7))), 1),
        (And((Compare("day", "=", "2024-01-02"), Compare("id", "=", 7))), 2),
        (Compare("id", ">", 1000), 0),
        (Compare("id", ">", 50), 12),  # the file of id 7 holds no such key
        (Compare("v", "=", 100), 2),  # it matches in one file, and the older row belongs to its section
        (Compare("v", "=", 3), 4),
        (Compare("v", "=", 77), 0),  # between the two files' values, in neither
    ],
)
def test_pruning(table, predicate, files):
    assert files_read(table, predicate) == files


def test_a_bucket_says_whether_files_were_left_out(table):
    assert {one.pruned for one in table.scan(predicate=Compare("v", ">", 0)).buckets} == {False}
    left_out = table.scan(predicate=Compare("v", "=", 100))
    assert [(len(one.files), one.pruned) for one in left_out.buckets] == [(2, False)]
    assert [one.pruned for one in table.scan(predicate=Compare("id", ">", 50)).buckets].count(True) == 1


def test_a_section_stays_whole_when_one_of_its_files_matches(table):
    rows = table.to_arrow(predicate=Compare("v", "=", 2)).to_pylist()
    assert {row["v"] for row in rows if row["id"] == 7} == {100}, "the upsert still hides the old row"


def test_pruning_by_partition_filter(table):
    plan = table.scan(partition_filter=lambda values: values == (date(2024, 1, 3),))
    assert len(plan.files) == 4
    assert {b.partition_path for b in plan.buckets} == {"day=2024-01-03"}
    assert plan.row_count == 100
    assert plan.file_size == sum(f.file_size for f in plan.files)


def test_sections_of_a_plan(table):
    assert sum(section.needs_merge for _, section in table.scan().sections) == 1


def test_an_old_snapshot(table):
    assert len(table.scan(table.snapshot(1)).files) == 12


def test_a_table_without_snapshots(tmp_path):
    table = make_table(tmp_path, {"id": "INT"})
    plan = plan_scan(table.state, None)
    assert (plan.snapshot, plan.files, plan.row_count) == (None, [], 0)


def test_live_entries_are_adds_only(table):
    write(table, [], kind="OVERWRITE", replaces=lambda entry: entry.bucket == 0)
    entries = live_entries(table.manifests, table.latest_snapshot())
    assert {e.bucket for e in entries} == {1, 2, 3}
    assert {e.kind for e in entries} == {0}


@pytest.mark.parametrize(
    ("part", "kinds", "reason"),
    [
        ("base", [FileKind.ADD, FileKind.ADD], "is added twice"),
        ("delta", [FileKind.ADD, FileKind.ADD], "is added twice"),
        ("both", [FileKind.ADD, FileKind.ADD], "is added twice"),
        ("base", [FileKind.DELETE], "is removed that was never added"),
        ("delta", [FileKind.DELETE], "is removed that was never added"),
        ("delta", [FileKind.ADD, FileKind.DELETE, FileKind.DELETE], "is removed that was never added"),
        ("both", [FileKind.DELETE, FileKind.ADD], "is removed that was never added"),
    ],
)
def test_manifests_that_contradict_themselves(table, part, kinds, reason):
    """No writer makes them; they are recognised by name, and not read as live files."""
    store, latest = table.manifests, table.latest_snapshot()
    entry = replace(table.live_files()[0], file=replace(table.live_files()[0].file, file_name="data-odd.parquet"))
    metas = [store.write_manifest([replace(entry, kind=kind)]) for kind in kinds]
    cut = {"base": len(metas), "delta": 0, "both": 1}[part]
    base, _ = store.write_list(metas[:cut])
    delta, _ = store.write_list(metas[cut:])
    damaged = replace(latest, base_manifest_list=base, delta_manifest_list=delta)
    table.io.write(table.paths.snapshot(latest.id), damaged.to_json().encode())
    # What is wrong by itself is blamed, and otherwise what was added to it.
    blamed = delta if part == "delta" or (part == "both" and kinds[0] == FileKind.ADD) else base
    for action in (lambda: live_entries(store, damaged), table.to_arrow, lambda: write(table, [], kind="OVERWRITE")):
        with pytest.raises(CorruptMetadataError, match=f"{blamed} .*: in snapshot 2, file data-odd.parquet {reason}"):
            action()


def test_columns_that_a_file_does_not_have_are_null_in_it(tmp_path):
    catalog = Catalog(tmp_path)
    table = make_table(catalog, {"id": "INT"})
    write(table, [{"id": 1}])
    catalog.alter_table("default", "t", [AddColumn("w", parse_type("INT"))])
    table = catalog.load_table("default", "t")
    write(table, [{"id": 2, "w": 5}])
    assert files_read(table, Compare("w", "=", 5)) == 1
    assert files_read(table, IsNull("w")) == 1
    assert files_read(table, IsNotNull("w")) == 1
    assert sorted(read(table), key=lambda r: r["id"]) == [{"id": 1, "w": None}, {"id": 2, "w": 5}]
