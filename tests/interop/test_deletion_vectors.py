"""Tables with deletion vectors: we find the rows that the other readers find, and they those that we write.

pypaimon makes no vectors; those in forms that we do not write come from `deletion_vectors.py`. Those of Java are in
`test_java_deletion_vectors.py`.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.append_deletion_vectors import prepared_delete
from support.deletion_vectors import delete_positions, with_options
from support.interop.compare import assert_same
from support.interop.ours import OurTable
from support.interop.readers import EVERY_READER, READERS

from tablestore_engine.schema.types.types import AtomicType

VECTORS = {"deletion-vectors.enabled": "true"}
COLUMNS = {"id": AtomicType("BIGINT"), "v": AtomicType("STRING")}


def _rows(ids, text="v"):
    return [{"id": i, "v": f"{text}{i}"} for i in ids]


@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
@pytest.mark.parametrize("wide", [False, True])
def test_they_read_the_same_rows(catalog, paimon, name, key, wide):
    options = {"bucket": "1", "write-only": "true"} if key else {}
    table = OurTable.create(catalog, name, COLUMNS, key=key, options=options)
    table.write(_rows(range(30_000)))
    table.write(_rows(range(29_990, 30_010), "late"))
    enabled = {**VECTORS, "deletion-vectors.bitmap64": "true"} if wide else VECTORS
    with_options(catalog, table.table, enabled)
    first = min(table.table.live_files(), key=lambda e: e.file.min_sequence_number).file.file_name
    delete_positions(table.table, {first: [0, *range(5000, 25_000, 2), 29_999]}, wide=wide)
    own = table.read()
    # Of a table with a key, what is not compacted does not count yet.
    assert own.num_rows == 30_000 - 10_002 + (0 if key else 20)
    # pypaimon does not know the wide form.
    for reader in ("datafusion",) if wide else READERS:
        assert_same(paimon.read(reader, table.warehouse, table.name), own, reader)


def test_they_read_ours(catalog, paimon, name):
    """Upserts, deletes, compactions and a rollback: after each, all readers find the rows that a naive fold gives."""
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "2", **VECTORS})
    state = {}

    def agree():
        own = table.read()
        assert own.sort_by("id").to_pylist() == [state[i] for i in sorted(state)]
        for reader in EVERY_READER:
            assert_same(paimon.read(reader, table.warehouse, table.name), own, reader)

    def put(ids, text="v"):
        table.write(_rows(ids, text))
        state.update({r["id"]: r for r in _rows(ids, text)})
        agree()

    put(range(10_000))
    for step in range(3):
        put(range(step, 10_500, 97), f"s{step}-")
        removed = _rows(range(step, 10_500, 301))
        table.delete(removed)
        for one in removed:
            state.pop(one["id"], None)
        agree()
    kept, snapshot = dict(state), table.table.latest_snapshot().id
    assert table.table.index_files()
    table.compact(full=True)
    assert not table.table.index_files()
    agree()
    put(range(50))
    table.table.roll_back(snapshot)
    state = kept
    agree()


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"sequence.field": "n"}, {1: (9, "first"), 2: (9, "late"), 3: (5, "late")}),
        ({"merge-engine": "partial-update"}, {1: (5, "first"), 2: (9, "late"), 3: (5, "late")}),
        (
            {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"},
            {1: (14, "first"), 2: (14, "late"), 3: (5, "late")},
        ),
    ],
    ids=["sequence", "partial update", "aggregation"],
)
def test_they_read_ours_where_old_rows_count(catalog, paimon, name, options, wanted):
    """A late row loses, others are folded; rows of all levels are there once."""
    columns = {"id": AtomicType("BIGINT"), "n": AtomicType("BIGINT"), "v": AtomicType("STRING")}
    table = OurTable.create(catalog, name, columns, key=["id"], options={"bucket": "1", **VECTORS, **options})
    many = [{"id": i, "n": i, "v": f"v{i}"} for i in range(100, 20_000)]
    table.write([*many, {"id": 1, "n": 9, "v": "first"}, {"id": 2, "n": 5, "v": "first"}])
    table.write([{"id": 1, "n": 5}, {"id": 2, "n": 9, "v": "late"}, {"id": 3, "n": 5, "v": "late"}])
    assert table.levels() == [4, 5]
    assert sum(one["_CARDINALITY"] for e in table.table.index_files() for one in e.deletion_vectors) == 2
    for full in (False, True):
        if full:
            table.compact(full=True)
        own = table.read()
        few = {row["id"]: (row["n"], row["v"]) for row in own.to_pylist() if row["id"] < 100}
        assert few == wanted
        assert own.num_rows == len(many) + 3
        for reader in EVERY_READER:
            assert_same(paimon.read(reader, table.warehouse, table.name), own, reader)


@pytest.mark.parametrize("options", [{}, {"bucket": "2", "bucket-key": "id"}], ids=["one bucket", "fixed buckets"])
def test_they_read_ours_without_a_key(catalog, paimon, name, options):
    """Deletes, updates, compactions and a rollback."""
    table = OurTable.create(catalog, name, COLUMNS, options={**VECTORS, **options})
    state, past = {}, []

    def agree():
        own = table.read()
        assert own.sort_by("id").to_pylist() == [state[i] for i in sorted(state)]
        for reader in EVERY_READER:
            assert_same(paimon.read(reader, table.warehouse, table.name), own, reader)

    def change(removed, put=()):
        prepared_delete(table.table, removed, list(put))()
        for one in removed:
            state.pop(one, None)
        state.update({one["id"]: one for one in put})
        past.append((dict(state), table.table.latest_snapshot().id))
        agree()

    for start in (0, 3000):
        table.write(_rows(range(start, start + 3000)))
        state.update({one["id"]: one for one in _rows(range(start, start + 3000))})
    for step in range(3):
        change(range(step, 6000, 97))
        change(range(step, 6000, 1301), _rows(range(step, 6000, 1301), "updated"))
    change(range(3000))
    table.compact(full=True)
    assert not table.table.index_files()
    agree()
    change(range(5000, 5010))
    state, snapshot = past[2]
    table.table.roll_back(snapshot)
    agree()


def test_pypaimons_table_with_a_key(paimon, catalog, name):
    """It writes level 0 only, which its own readers leave out until a compaction."""
    schema = pa.schema([pa.field("id", pa.int64(), False), ("v", pa.string())])
    paimon.create(catalog.warehouse, f"db.{name}", schema, primary_keys=["id"], options={"bucket": "1", **VECTORS})
    paimon.write(catalog.warehouse, f"db.{name}", pa.Table.from_pylist(_rows(range(5)), schema))
    table = OurTable(catalog, "db", name)
    assert table.levels() == [0]
    own = table.read()
    assert own.num_rows == 0
    for reader in EVERY_READER:
        assert_same(paimon.read(reader, catalog.warehouse, table.name), own, reader)
