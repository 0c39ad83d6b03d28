"""Tables whose deleted rows Java Paimon keeps as deletion vectors: we read them as it does, and write into those with
a primary key; it reads what we write into them, and goes on."""

from __future__ import annotations

import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable

from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS
from tablestore_engine.schema.types.types import AtomicType

pytestmark = pytest.mark.spark

COLUMNS = {"id": "BIGINT", "day": "INT", "n": "INT", "text": "STRING"}
OURS = {name: AtomicType(kind) for name, kind in COLUMNS.items()}
VECTORS = {"deletion-vectors.enabled": "true"}
WIDE = {**VECTORS, "deletion-vectors.bitmap64": "true"}
KEYED = {
    "deduplicate": {"bucket": "2", **VECTORS},
    "wide_bitmaps": {"bucket": "1", **WIDE},
    "partitioned": {"bucket": "2", **VECTORS},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "40", **VECTORS},
    "aggregation": {
        "bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum", **VECTORS,
    },
    "partial_update": {"bucket": "1", "merge-engine": "partial-update", **VECTORS},
    "groups": {
        "bucket": "1", "merge-engine": "partial-update", "fields.n.sequence-group": "text,day",
        "partial-update.remove-record-on-sequence-group": "n", **VECTORS,
    },
    "sequence": {"bucket": "2", "sequence.field": "n", **VECTORS},
    "not_compacted": {"bucket": "1", "write-only": "true", **VECTORS},
}  # fmt: skip

NO_DELETES = ("aggregation", "partial_update")
FOLDED = (*NO_DELETES, "groups")
ORDERED = ("sequence",)


@pytest.fixture
def made(java, catalog, name):
    """A table that Java makes, and another one that gives it rows."""

    def make(options, key=(), partition=()):
        catalog.create_database("db", if_not_exists=True)
        java.create(f"{catalog.warehouse}/db.db/{name}", COLUMNS, key=key, partition=partition, options=options)
        return OurTable(catalog, "db", name), OurTable.create(catalog, f"{name}_more", OURS)

    return make


@pytest.fixture
def everything_agrees(java_reads, spark_store):
    """Java, the engine without Spark and with it find the same rows, in whatever columns; counts are theirs too."""

    def check(table: OurTable):
        own = java_reads(table)
        name = table.name.split(".")[1]
        assert_same(spark_store.read(name).toArrow(), own, "Spark")
        texts = sorted(str(row[0]) for row in spark_store.sql(f"SELECT text FROM {name} WHERE n < 3").collect())
        assert texts == sorted(str(r["text"]) for r in own.to_pylist() if r["n"] is not None and r["n"] < 3)
        counted = table.table.statistics()
        assert counted.row_count == own.num_rows
        assert counted.row_count_exact
        for snapshot in table.table.snapshots():
            java_reads(table, snapshot.id)
        return own

    return check


def _rows(ids, text, n=1):
    return [{"id": i, "day": i % 2, "n": None if i % 5 == 0 else i % 3 + n, "text": f"{text}{i}"} for i in ids]


def _vectors(table: OurTable) -> int:
    return sum(len(e.deletion_vectors) for e in table.table.index_files() if e.index_type == DELETION_VECTORS)


@pytest.mark.parametrize("case", KEYED)
def test_keyed(java, made, everything_agrees, java_reads, catalog, name, case):
    split = ["day"] if case == "partitioned" else []
    table, more = made(KEYED[case], key=[*split, "id"], partition=split)
    path = table.table.path
    for step, ids in enumerate((range(100), range(40, 130), range(60, 64), range(0, 130, 7))):
        more.overwrite(_rows(ids, f"s{step}-", step))
        java.ask("copy", path, more.table.path)
        if step == 2:
            # Few rows are not worth merging all others for: their old rows are marked.
            assert (_vectors(table) > 0) == (case != "not_compacted")
            everything_agrees(table)
    if case not in NO_DELETES:
        more.overwrite(_rows(range(3, 130, 11), "gone"))
        java.ask("delete", path, more.table.path)
    own = everything_agrees(table)
    if case == "not_compacted":
        assert own.num_rows == 0, "Java leaves out what it has not compacted"
        table.compact(full=False)
        assert everything_agrees(table).num_rows == 118
    else:
        assert case in (*ORDERED, *FOLDED) or own.num_rows == 118
    if case in (*ORDERED, *FOLDED):
        options = {key: value for key, value in KEYED[case].items() if key not in VECTORS}
        java.create(f"{catalog.warehouse}/db.db/{name}_plain", COLUMNS, key=["id"], partition=(), options=options)
        whole = OurTable(catalog, "db", f"{name}_plain")
        _both_fold(java, table, whole, more, everything_agrees, java_reads)
    else:
        _both_write(java, table, more, everything_agrees)
    if case != "not_compacted":  # Java's writers compact no table that is write-only
        java.ask("compact", path)
    everything_agrees(table)


def _both_fold(java, table, whole, more, everything_agrees, java_reads):
    """We and Java in turn, into this table and one of Java's alone without vectors, which says what comes of it."""
    path, plain = table.table.path, whole.table.path
    more.overwrite(table.read())
    java.ask("copy", plain, more.table.path)

    def agree():
        java.ask("compact", plain)
        assert_same(everything_agrees(table), java_reads(whole), "the table without vectors")

    for step in range(3):
        for ours in (True, False):
            given = _rows(range(step, 150, 9 if ours else 13), f"{ours}{step}-", (step * 2 + ours) % 3)
            if table.table.schema.merge_engine.has_sequence_groups:
                # With vectors, Java forgets the values of a key's only record if it has no sequence; without, it does
                # not.
                given = [one for one in given if one["n"] is not None]
            more.overwrite(given)
            if ours:
                table.write(given)
            else:
                java.ask("copy", path, more.table.path)
            java.ask("copy", plain, more.table.path)
            agree()


def _both_write(java, table, more, everything_agrees):
    """We and Java in turn: upserts, deletes and compactions."""
    state = {r["id"]: r for r in table.read().to_pylist()}

    def put(ids, text, n):
        given = _rows(ids, text, n)
        state.update({r["id"]: r for r in given})
        return given

    for step in range(4):
        table.write(put(range(step, 150, 9), f"ours{step}-", step))
        everything_agrees(table)
        more.overwrite(put(range(step, 150, 13), f"java{step}-", step))
        java.ask("copy", table.table.path, more.table.path)
        everything_agrees(table)
        removed = _rows(range(step, 150, 17), "late")
        table.delete(removed)
        for one in removed:
            state.pop(one["id"], None)
        own = everything_agrees(table)
        assert own.sort_by("id").to_pylist() == [state[i] for i in sorted(state)]
        if step == 2:
            table.compact(full=True)
            assert _vectors(table) == 0
            everything_agrees(table)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"file.format": "orc"},
        {"data-file.thin-mode": "true"},
        {"sequence.field": "n", "deletion-vectors.bitmap64": "true"},
        {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
        {"changelog-producer": "lookup"},
    ],
    ids=str,
)
def test_ours(java, catalog, name, everything_agrees, more):
    """Tables that only we write, in every state."""
    options = {"bucket": "2", "num-sorted-run.compaction-trigger": "3", **VECTORS, **more}
    table = OurTable.create(catalog, name, OURS, key=["id"], options=options)
    table.write(_rows(range(1000), "first"))
    seen = 0
    for step in range(6):
        table.write(_rows(range(step, 1000, 31), f"s{step}-", step))
        table.delete(_rows(range(step, 1000, 97), "gone"))
        seen += _vectors(table)
        everything_agrees(table)
    assert seen
    table.table.roll_back(4)
    everything_agrees(table)
    table.compact(full=True)
    everything_agrees(table)
    java.ask("compact", table.table.path)
    everything_agrees(table)


@pytest.mark.parametrize("options", [VECTORS, WIDE, {"bucket": "2", "bucket-key": "id", **VECTORS}], ids=str)
def test_tables_without_a_key(java, made, everything_agrees, spark_store, options):
    # Files stay where they are, however small they are, and however many of their rows are marked.
    stay = {"compaction.delete-ratio-threshold": "1", "compaction.min.file-num": "50"}
    table, more = made({**options, **stay}, partition=["day"])
    path, name = table.table.path, table.name.split(".")[1]
    for step in range(2):
        more.overwrite(_rows(range(300), f"s{step}-"))
        java.ask("copy", path, more.table.path)
    assert everything_agrees(table).num_rows == 600
    # Single rows, a row at either end, and long runs, upon which other rows are deleted.
    for deleted in ((0, 7, 299), range(100, 200), (8, 150, 201)):
        more.overwrite(_rows(deleted, "gone"))
        assert int(java.ask("remove", path, more.table.path)) > 0
        everything_agrees(table)
    own = table.read()
    assert own.num_rows == 2 * (300 - 3 - 100 - 2)
    assert _vectors(table) == len(table.table.live_files())
    assert spark_store.sql(f"SELECT count(*), sum(id) FROM {name} WHERE id BETWEEN 5 AND 202").collect()[0][:] == (
        2 * (198 - 2 - 100 - 1),
        2 * (sum(range(5, 203)) - 7 - sum(range(100, 200)) - 8 - 201),
    )
    _both_delete(java, table, more, everything_agrees, spark_store)
    own = table.read()
    # Whole partitions go without a file being written.
    spark_store.sql(f"ALTER TABLE {name} DROP PARTITION (day = 1)")
    assert everything_agrees(table).num_rows == len([i for i in own.column("id").to_pylist() if i % 2 == 0])


def _both_delete(java, table, more, everything_agrees, spark_store):
    """We and Java in turn: deletes, updates, and compactions."""
    path, name = table.table.path, table.name.split(".")[1]
    for step in range(2):
        # A file that loses its last row is removed, as are those that the update before has made.
        files = {e.file.file_name for e in table.table.live_files() if e.file.row_count > 2}
        before = table.read().num_rows
        spark_store.sql(f"DELETE FROM {name} WHERE id IN (SELECT id * 29 + {step} FROM range(5))")
        spark_store.sql(f"UPDATE {name} SET n = 77 WHERE id BETWEEN 220 AND {221 + step}")
        assert files <= {e.file.file_name for e in table.table.live_files()}, "a file was rewritten"
        assert everything_agrees(table).num_rows < before
        more.overwrite(_rows((30 + step, 215 + step), "gone"))
        assert int(java.ask("remove", path, more.table.path)) > 0
        everything_agrees(table)
    table.compact(full=True)
    assert _vectors(table) == 0
    everything_agrees(table)
    spark_store.sql(f"DELETE FROM {name} WHERE id % 40 = 7")
    if table.table.options.bucket > 0:  # Java's writers compact no table without buckets
        java.ask("compact", path)
        everything_agrees(table)


def test_columns_that_changed_since(java, made, java_reads, spark_store):
    """A vector counts the rows of its file, whatever columns the table has today."""
    table, more = made(VECTORS)
    name = table.name.split(".")[1]
    more.write(_rows(range(20), "a"))
    java.ask("copy", table.table.path, more.table.path)
    more.overwrite(_rows(range(0, 20, 3), "gone"))
    java.ask("remove", table.table.path, more.table.path)
    spark_store.sql(f"ALTER TABLE {name} ADD COLUMN more STRING")
    own = java_reads(table)
    assert own.column("id").to_pylist() == [i for i in range(20) if i % 3]
    assert own.column("text").to_pylist()[:2] == ["a1", "a2"]
    assert set(own.column("more").to_pylist()) == {None}
    assert_same(spark_store.read(name).toArrow(), own, "Spark")


def test_merge_on_read(java, made, java_reads, spark_store):
    """With this option, which Java 1.4 does not know, what is not compacted counts: files merge, without deleted
    rows."""
    table, more = made({"bucket": "1", **VECTORS}, key=["id"])
    path, name = table.table.path, table.name.split(".")[1]
    state = {}
    for step, ids in enumerate((range(100), range(40, 130), range(60, 64))):
        more.overwrite(_rows(ids, f"s{step}-", step))
        java.ask("copy", path, more.table.path)
        state.update({r["id"]: r for r in _rows(ids, f"s{step}-", step)})
    assert java_reads(table).sort_by("id").to_pylist() == [state[i] for i in sorted(state)]
    assert _vectors(table) > 0
    schema, io = table.table.paths.schema(0), table.table.io
    io.write(schema, io.read(schema).replace(b'"bucket" : "1"', b'"bucket" : "1", "write-only" : "true"'))
    more.overwrite(_rows(range(90, 140), "late", 5))
    java.ask("copy", path, more.table.path)
    assert 0 in table.levels()
    assert java_reads(table).sort_by("id").to_pylist() == [state[i] for i in sorted(state)]
    state.update({r["id"]: r for r in _rows(range(90, 140), "late", 5)})
    visible = b'"bucket" : "1", "deletion-vectors.merge-on-read" : "true"'
    io.write(schema, io.read(schema).replace(b'"bucket" : "1"', visible))
    own = table.read()
    assert own.sort_by("id").to_pylist() == [state[i] for i in sorted(state)]
    assert_same(spark_store.read(name).toArrow(), own, "Spark")
    assert table.table.statistics().row_count == 140
