"""Tables that Java Paimon made, today's version and 0.9 with metadata that knew less: we read and continue them, and
what we add, Java reads.
"""

from __future__ import annotations

import pytest
from support.interop.compare import assert_same
from support.interop.java_paimon import JavaPaimonError
from support.interop.ours import OurTable

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.types.types import AtomicType

pytestmark = pytest.mark.spark

COLUMNS = {"code": "STRING", "day": "STRING", "n": "INT", "text": "STRING"}
OURS = {name: AtomicType(kind) for name, kind in COLUMNS.items()}
KEYED = {
    "keyed": {"bucket": "2"},
    "partitioned": {"bucket": "2"},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "30"},
    "aggregation": {
        "bucket": "1", "write-only": "true", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum",
    },
    "partial_update": {
        "bucket": "1", "write-only": "true", "merge-engine": "partial-update", "fields.n.sequence-group": "text",
    },
    "first_row": {"bucket": "1", "merge-engine": "first-row"},
}  # fmt: skip
APPEND = {"append": {}, "bucketed": {"bucket": "2", "bucket-key": "code"}}


@pytest.fixture(params=["java", "old_java"])
def writer(request):
    """The version that makes the table."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def all_agree(java_reads, java, writer, spark_store, request):
    """Java of today, that which made the table, the engine without Spark and with it find the same rows."""

    def check(table: OurTable):
        own = java_reads(table)
        if writer is not java:
            request.getfixturevalue("old_java_reads")(table)
        assert_same(spark_store.read(table.name.split(".")[1]).toArrow(), own, "Spark")
        return own

    return check


def _rows(ids, text, n=1, *, nulls=True):
    return [
        {
            "code": f"c{i}",
            "day": f"d{i % 2}",
            "n": None if nulls and i % 5 == 0 else i % 3 + n,
            "text": f"{text}{i}",
        }
        for i in ids
    ]


@pytest.mark.parametrize("case", KEYED)
def test_keyed(writer, java, java_reads, made, all_agree, case):
    split = ["day"] if case == "partitioned" else []
    table, more = made(KEYED[case], key=[*split, "code"], partition=split)
    path = table.table.path
    # Java keeps what came with a null sequence as long as no other record of the key comes, which we do not.
    nulls = case != "partial_update"
    for step, ids in enumerate((range(50), range(30, 70), range(0, 70, 6))):
        more.overwrite(_rows(ids, f"s{step}-", step, nulls=nulls))
        writer.ask("copy", path, more.table.path)
        assert all_agree(table).num_rows == (50 if step == 0 else 70)
    if "write-only" in KEYED[case]:
        assert table.levels() == [0, 0, 0], "several runs"
    before = table.read().sort_by("code")
    if case in ("keyed", "partitioned", "dynamic"):
        more.overwrite(_rows(range(0, 70, 10), "gone"))
        writer.ask("delete", path, more.table.path)
        assert all_agree(table).num_rows == 63
        before = table.read().sort_by("code")
    if "write-only" not in KEYED[case]:
        writer.ask("compact", path)
        assert all_agree(table).sort_by("code") == before
    # Our own on top of it. Other readers see what is new of a first-row table once it was compacted.
    table.write(_rows(range(60, 80), "ours", 7))
    table.compact(full=True)
    assert all_agree(table).num_rows == (74 if case in ("keyed", "partitioned", "dynamic") else 80)
    # And the others again on top of that.
    for server, ids in ((writer, range(5, 15)), (java, range(10, 20))):
        more.overwrite(_rows(ids, "theirs", 9, nulls=nulls))
        server.ask("copy", path, more.table.path)
        all_agree(table)
    table.compact(full=True)
    all_agree(table)
    if case != "first_row":
        for snapshot in table.table.snapshots():
            java_reads(table, snapshot.id)


@pytest.mark.parametrize("case", APPEND)
def test_tables_without_a_key(writer, java, made, all_agree, spark_store, case):
    table, more = made(APPEND[case], partition=["day"])
    for _ in range(3):
        more.overwrite(_rows(range(40), "old"))
        writer.ask("copy", table.table.path, more.table.path)
    assert all_agree(table).num_rows == 120
    name = table.name.split(".")[1]
    spark_store.sql(f"DELETE FROM {name} WHERE code = 'c3'")
    spark_store.sql(f"INSERT INTO {name} VALUES ('new', 'd1', NULL, 'ours')")
    assert all_agree(table).num_rows == 118
    table.compact(full=True)
    assert all_agree(table).num_rows == 118
    java.ask("copy", table.table.path, more.table.path)
    assert all_agree(table).num_rows == 158


@pytest.mark.parametrize("writer", ["old_java"], indirect=True)
def test_deletion_vectors(writer, made, all_agree):
    """Its vectors do not say how many rows they delete."""
    options = {"bucket": "2", "deletion-vectors.enabled": "true"}
    table, more = made(options, key=["code"])
    for step, ids in enumerate((range(100), range(40, 130), range(0, 130, 7))):
        more.overwrite(_rows(ids, f"s{step}-", step))
        writer.ask("copy", table.table.path, more.table.path)
        all_agree(table)
    more.overwrite(_rows(range(3, 130, 11), "gone"))
    writer.ask("delete", table.table.path, more.table.path)
    assert all_agree(table).num_rows == 118
    vectors = [one for e in table.table.index_files() for one in e.deletion_vectors or ()]
    assert vectors
    assert table.table.statistics().row_count == 118


def test_numbers_as_keys(old_java, java, java_reads, catalog, name):
    """The old version cannot decode numbers that are stored as differences, as our keys are, and says so."""
    catalog.create_database("db", if_not_exists=True)
    path = f"{catalog.warehouse}/db.db/{name}"
    old_java.create(path, {"id": "BIGINT", "v": "STRING"}, key=["id"], options={"bucket": "1"})
    table = OurTable(catalog, "db", name)
    more = OurTable.create(catalog, f"{name}_more", {"id": AtomicType("BIGINT"), "v": AtomicType("STRING")})
    more.write([{"id": i, "v": f"old{i}"} for i in range(20)])
    old_java.ask("copy", path, more.table.path)
    assert java_reads(table).num_rows == 20
    table.write([{"id": i, "v": "ours"} for i in range(10, 30)])
    assert java_reads(table).num_rows == 30
    with pytest.raises(JavaPaimonError, match="Unsupported encoding: DELTA_BINARY_PACKED"):
        old_java.read(path)


MANIFESTS = {
    "append": ({}, False),
    "marked": ({"deletion-vectors.enabled": "true", "bucket": "1"}, True),
    "keyed": ({"bucket": "2", "changelog-producer": "input"}, True),
    "dynamic": ({"bucket": "-1", "dynamic-bucket.target-row-num": "30"}, True),
}


@pytest.mark.parametrize("case", MANIFESTS)
@pytest.mark.parametrize("kind", ["orc", "parquet"])
def test_manifests_of_another_format(java, java_reads, made, kind, case):
    """They are read: rows, partitions, statistics, changes and what was before. Writes are refused by the option."""
    options, keyed = MANIFESTS[case]
    more_options = {"manifest.format": kind, "manifest.merge-min-count": "2", **options}
    table, more = made(more_options, key=["day", "code"] if keyed else (), partition=["day"])
    path = table.table.path
    for step, ids in enumerate((range(50), range(30, 70))):
        more.overwrite(_rows(ids, f"s{step}-", step))
        java.ask("copy", path, more.table.path)
    if keyed:
        java.ask("compact", path)
        more.overwrite(_rows(range(0, 70, 10), "removed"))
        java.ask("delete", path, more.table.path)
        if case == "marked":
            java.ask("compact", path)
    heads = {table.table.io.read(one.path)[:3] for one in table.table.io.list(table.table.paths.manifest_dir)}
    assert heads == {b"ORC" if kind == "orc" else b"PAR"}
    assert java_reads(table).num_rows == (63 if keyed else 90)
    java_reads(table, 1)
    found = table.table.to_arrow(predicate=Compare("code", "=", "c31")).column("code").to_pylist()
    assert "c31" in found
    assert len(table.table.changes(0).to_pylist()) == (63 if keyed else 90)
    assert table.table.changes(1).num_rows > 0
    with pytest.raises(OptionError, match="is not supported"):
        table.write(_rows(range(3), "ours"))
    java_reads(table)
