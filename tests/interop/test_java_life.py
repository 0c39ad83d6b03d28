"""Java Paimon on what becomes of a table's past: rollbacks, tags, statistics, the audit log."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime, timezone
from decimal import Decimal

import pytest
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable, new_identity, rows_of, rows_of_text

from tablestore_engine.metadata.analyze_statistics import ColumnStatistics, Statistics, has_bounds, value_text
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.schema.table.row_kind import KINDS
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, RowType
from tablestore_engine.storage.metadata_files.analyze_statistics_store import StatisticsStore

ID, TEXT = AtomicType("BIGINT"), AtomicType("STRING")
COLUMNS = {"id": ID, "text": TEXT}
OPTIONS = {"bucket": "2"}


@pytest.fixture
def table(catalog, name):
    return OurTable.create(catalog, name, COLUMNS, key=["id"], options=OPTIONS)


def same(java, table, snapshot=None):
    own = multiset_of(table.read(snapshot), table.table.schema)
    assert java.read(table.table.path, snapshot)[1] == own
    return own


@pytest.mark.parametrize("to", [1, 2, 3])
def test_restored_files_outlive_their_expiration(java, table, to):
    table.write(rows_of_text(range(50), "a"))
    table.write(rows_of_text(range(20, 70), "b"))
    table.delete(rows_of_text(range(10), "x"))
    table.compact(full=True)
    table.write(rows_of_text(range(5), "c"))
    wanted = same(java, table, to)
    table.table.roll_back(to)
    assert same(java, table) == wanted
    for snapshot in table.table.snapshots():
        same(java, table, snapshot.id)
    assert java.ask("expire", table.table.path, "1") == "5"
    assert same(java, table) == wanted
    table.write(rows_of_text(range(60, 80), "late"))
    after = same(java, table)
    java.ask("compact", table.table.path)
    assert same(java, table) == after
    java.ask("expire", table.table.path, "1")
    assert same(java, table) == after


def test_tags(java, table):
    table.write(rows_of_text(range(5), "a"))
    own = same(java, table)
    table.table.create_tag("plain")
    table.table.create_tag("month", retained_millis=2_592_000_000)
    table.write(rows_of_text(range(5), "b"))
    table.compact(full=True)
    java.ask("expire", table.table.path, "1")
    for tag in ("plain", "month"):
        assert java.read(table.table.path, f"scan.tag-name={tag}")[1] == own
        assert multiset_of(table.table.to_arrow(snapshot=table.table.version(tag)), table.table.schema) == own
    assert sorted(java.ask("tags", table.table.path).split(",")) == ["month:1:2592000", "plain:1:-"]


BOUNDS = {
    "id": (ID, 1, 2**60),
    "flag": (AtomicType("BOOLEAN"), False, True),
    "amount": (AtomicType("DECIMAL", precision=10, scale=2), Decimal("0.50"), Decimal("99.90")),
    "ratio": (AtomicType("DOUBLE"), -1.5, 1e10),
    "day": (AtomicType("DATE"), date(1969, 12, 31), date(2024, 1, 31)),
    "at": (
        AtomicType("TIMESTAMP", precision=6),
        datetime(2024, 1, 31, 8),
        datetime(2024, 1, 31, 8, 0, 0, 123456),
    ),
    "instant": (
        AtomicType("TIMESTAMP_LTZ", precision=6),
        datetime(2024, 1, 31, tzinfo=timezone.utc),
        datetime(2024, 2, 1, tzinfo=timezone.utc),
    ),
    "text": (TEXT, None, None),
}


def test_statistics(catalog, java, name):
    """It parses the least and greatest value of every type by its own rules, and gives them back."""
    table = OurTable.create(catalog, name, {column: kind for column, (kind, _, _) in BOUNDS.items()})
    table.write([{"id": 1}])
    path, schema = table.table.path, table.table.schema
    assert java.ask("statistics", path) == ""
    columns = {
        column: ColumnStatistics(schema.field(column).id, 2, value_text(low, kind), value_text(high, kind), 0, 8, 8)
        for column, (kind, low, high) in BOUNDS.items()
    }
    assert all(has_bounds(kind) for column, (kind, _, _) in BOUNDS.items() if column != "text")
    found = Statistics(1, 0, 2, 100, columns)
    stored = StatisticsStore(table.table.io, table.table.paths).write(found)
    Committer(table.table.state).commit(Change("ANALYZE", statistics=stored), new_identity())
    assert Statistics.from_json(java.ask("statistics", path)) == found
    java.ask("copy", path, path)
    assert table.table.latest_snapshot().statistics == stored, "it keeps them for its own snapshots"


def test_audit_log(java, table):
    table.write(rows_of_text(range(4), "a"))
    table.write(rows_of_text([1], "b"))
    table.delete(rows_of_text([2], "a"))
    _, found = java.read(table.table.path, command="audit")
    assert found == Counter(
        json.dumps(row) for row in (["+I", 0, "a0"], ["+I", 1, "b1"], ["-D", 2, "a2"], ["+I", 3, "a3"])
    )


@pytest.mark.parametrize(
    ("producer", "kinds"),
    [
        ("input", {"+I": 6, "-D": 1}),
        ("lookup", {"+I": 5, "-U": 1, "+U": 1, "-D": 1}),
        ("full-compaction", {"+I": 4}),  # the one compaction records the rows that are there in the end
    ],
)
def test_java_reads_our_changelog(java, catalog, name, producer, kinds):
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={**OPTIONS, "changelog-producer": producer})
    table.write(rows_of_text(range(4), "a"))
    table.write(rows_of_text([1, 7], "b"))
    table.delete(rows_of_text([2], "a"))
    table.compact(full=True)
    last = table.table.latest_snapshot().id
    ours = table.table.changes(0, recorded=True).to_pylist()
    assert Counter(row["_row_kind"] for row in ours) == kinds
    _, found = java.read(table.table.path, f"incremental-between=0,{last}", command="audit")
    assert found == Counter(json.dumps(list(row.values())) for row in ours)
    java.ask("expire", table.table.path, "1")
    assert same(java, table)


def test_char_of_its_full_length(java, catalog, name):
    """Also inside of other values; Java reads and compacts the texts as they are, and finds a row by one."""
    char = AtomicType("CHAR", True, 6)
    columns = {"id": ID, "c": char, "l": ArrayType(char), "s": RowType((DataField(0, "x", char),))}
    table = OurTable.create(catalog, name, columns, key=["id"], options=OPTIONS)
    for texts in (["ab", None], ["cd    ", "abcdef"]):
        rows = [{"id": i, "c": text, "l": [text], "s": {"x": text}} for i, text in enumerate(texts)]
        table.table.write(rows_of(table.table.schema, rows))
    expected = Counter(json.dumps([i, text, [text], [text]]) for i, text in enumerate(["cd    ", "abcdef"]))
    assert java.read(table.table.path)[1] == expected
    assert java.ask("lookup", table.table.path, "c", "cd    ") == "1 1"
    java.ask("compact", table.table.path)
    assert java.read(table.table.path)[1] == expected
    assert same(java, table)


LONG_CHANGELOGS = {
    **OPTIONS, "changelog-producer": "lookup", "snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1",
    "changelog.num-retained.max": "20",  # without a least number, of which Java may count back to before the first
}  # fmt: skip


def test_java_streams_changelogs_of_ours_whose_snapshots_are_expired(java, catalog, name):
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options=LONG_CHANGELOGS)
    for text in "abc":
        table.write(rows_of_text(range(3), text))
    table.compact(full=True)
    table.delete(rows_of_text([2], "c"))
    table.table.expire_snapshots()
    assert len(table.table.snapshots()) == 1
    kinds = Counter(row["_row_kind"] for row in table.table.changes(0, recorded=True).to_pylist())
    assert java.ask("stream", table.table.path, "1") == "3 6 6 1" == " ".join(str(kinds[one]) for one in KINDS)
    assert java.ask("stream", table.table.path, "3") == "0 3 3 1"
    assert java.ask("orphans", table.table.path) == "0"
    assert same(java, table)


def test_we_read_changelogs_of_java_whose_snapshots_are_expired(java, catalog, name):
    source = OurTable.create(catalog, f"{name}_rows", COLUMNS, key=["id"], options=OPTIONS)
    path = f"{source.table.path}_java"
    java.create(path, {"id": "BIGINT NOT NULL", "text": "STRING"}, key=["id"], options=LONG_CHANGELOGS)
    for text in "abc":
        source.overwrite(rows_of_text(range(3), text))
        java.ask("copy", path, source.table.path)
        java.ask("compact", path)
    table = catalog.load_table(source.table.identifier[0], path.rpartition("/")[2])
    assert len(table.snapshots()) == 1
    kinds = Counter(row["_row_kind"] for row in table.changes(0, recorded=True).to_pylist())
    assert java.ask("stream", path, "1") == " ".join(str(kinds[one]) for one in KINDS)
    assert table.remove_orphan_files(2**50, dry_run=True) == []
    table.write(rows_of(table.schema, rows_of_text([9], "d")))
    assert table.changes(0, recorded=True).num_rows == kinds.total() + 1


@pytest.mark.parametrize("producer", ["input", "lookup", "full-compaction"])
def test_we_read_the_changelog_of_java(java, catalog, name, producer):
    source = OurTable.create(catalog, f"{name}_rows", COLUMNS, key=["id"], options=OPTIONS)
    path = f"{source.table.path}_java"
    options = {**OPTIONS, "changelog-producer": producer}
    java.create(path, {"id": "BIGINT NOT NULL", "text": "STRING"}, key=["id"], options=options)
    for text in "ab":
        source.write(rows_of_text(range(4), text))
        java.ask("copy", path, source.table.path)
        java.ask("compact", path)
    table = catalog.load_table(source.table.identifier[0], path.rpartition("/")[2])
    last = table.latest_snapshot().id
    recorded = Counter(json.dumps(list(row.values())) for row in table.changes(0, recorded=True).to_pylist())
    assert recorded
    assert java.read(path, f"incremental-between=0,{last}", command="audit")[1] == recorded
