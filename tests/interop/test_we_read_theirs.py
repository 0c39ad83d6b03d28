"""Tables that pypaimon wrote: we read them, write and compact on top of them, and they read the result."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable, rows_of
from support.interop.readers import EVERY_READER, READERS
from support.interop.shapes import ATOMIC, EVERYTHING, value_rows

from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import AtomicType

ID, INT, TEXT = pa.int64(), pa.int32(), pa.string()


class TheirTable:
    """A table made by pypaimon. `state` is what it must hold: rows by key, or all rows of a table without a key."""

    def __init__(self, paimon, catalog, name: str, columns: dict[str, pa.DataType], key=(), partition=(), options=None):
        self._paimon = paimon
        self._warehouse = catalog.warehouse
        self._name = f"db.{name}"
        self.schema = pa.schema(list(columns.items()))
        self.key = tuple(key)
        paimon.create(
            self._warehouse,
            self._name,
            self.schema,
            primary_keys=key,
            partition_keys=partition,
            options=options or {},
        )
        self.ours = OurTable(catalog, "db", name)

    def rows(self, values: list[dict[str, Any]]) -> pa.Table:
        names = self.schema.names
        return pa.Table.from_pylist([{n: v.get(n) for n in names} for v in values], self.schema)

    def write(self, values: list[dict[str, Any]], overwrite: dict[str, Any] | None = None) -> None:
        rows = self.rows(values)
        if self.key:
            # Their writer takes the columns of the key as NOT NULL.
            fields = [f.with_nullable(f.name not in self.key) for f in self.schema]
            rows = rows.cast(pa.schema(fields))
        self._paimon.write(self._warehouse, self._name, rows, overwrite)

    def truncate(self, partitions=()) -> None:
        self._paimon.truncate(self._warehouse, self._name, partitions)

    def check(self, values: list[dict[str, Any]], readers=READERS) -> None:
        """We and they find exactly these rows; of a key the last one counts."""
        kept = list({tuple(v[k] for k in self.key): v for v in values}.values()) if self.key else values
        expected = self.rows(kept)
        assert_same(self.ours.read(), expected, "tablestore")
        for reader in readers:
            assert_same(self._paimon.read(reader, self._warehouse, self._name), expected, reader)


@pytest.fixture
def their(paimon, catalog, name):
    def make(columns, **more):
        return TheirTable(paimon, catalog, name, columns, **more)

    return make


def _rows(ids, text):
    return [{"id": i, "code": f"c{i % 3}", "day": i % 2, "text": None if i % 7 == 0 else f"{text}{i}"} for i in ids]


COLUMNS = {"id": ID, "code": TEXT, "day": INT, "text": TEXT}
LAYOUTS = {
    "one_bucket": {"key": ["id"], "options": {"bucket": "1"}},
    "many_buckets": {"key": ["id"], "options": {"bucket": "5"}},
    "composite_key": {"key": ["code", "id"], "options": {"bucket": "3"}},
    "key_in_another_order": {"key": ["text", "id"], "options": {"bucket": "3"}},
    "partitioned": {"key": ["day", "id"], "partition": ["day"], "options": {"bucket": "2"}},
    "two_partitions": {
        "key": ["code", "day", "id"],
        "partition": ["day", "code"],
        "options": {"bucket": "2"},
    },
    "bucket_key": {"key": ["code", "id"], "options": {"bucket": "4", "bucket-key": "code"}},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_keyed(their, layout):
    table = their(COLUMNS, **LAYOUTS[layout])

    def rows(ids, text):
        made = _rows(ids, text)
        return [{**r, "text": f"k{r['id']}"} for r in made] if "text" in table.key else made

    table.check([])
    state = rows(range(100), "a")
    table.write(state)
    table.check(state)
    table.write(rows(range(50, 120), "b"))
    state += rows(range(50, 120), "b")
    table.check(state)

    table.ours.write(rows_of(table.ours.table.schema, rows(range(90, 130), "ours")))
    state += rows(range(90, 130), "ours")
    table.check(state)
    deleted = rows(range(0, 130, 4), "x")
    table.ours.delete(deleted)
    state = [r for r in state if r["id"] % 4]
    table.check(state)
    table.write(rows(range(8), "theirs again"))
    state += rows(range(8), "theirs again")
    table.check(state)
    table.ours.compact(full=True)
    assert set(table.ours.levels()) == {5}
    table.check(state)
    table.write(rows(range(5, 15), "on compacted"))
    state += rows(range(5, 15), "on compacted")
    table.check(state)
    table.ours.compact(full=True)
    table.check(state)


@pytest.mark.parametrize("kind", [k for k in ATOMIC if k not in ("timestamp_0", "varchar", "char")])
def test_keys_hash_to_the_same_buckets(their, kind):
    """An upsert of ours must find their rows: with another hash there would be two rows of a key."""
    values = ATOMIC[kind].values
    table = their({"k": to_arrow_type(ATOMIC[kind].type), "v": TEXT}, key=["k"], options={"bucket": "7"})
    state = [{"k": k, "v": "theirs"} for k in values]
    table.write(state)
    table.check(state)
    ours = [{"k": k, "v": "ours"} for k in values[::2]]
    table.ours.write(ours)
    table.check(state + ours)
    table.write([{"k": k, "v": "again"} for k in values[::3]])
    state += [*ours, *({"k": k, "v": "again"} for k in values[::3])]
    table.ours.compact(full=True)
    table.check(state)


@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
def test_values_of_every_type(their, key):
    samples = {n: s for n, s in EVERYTHING.items() if n != "timestamp_0"}
    columns = {"id": ID, **{n: to_arrow_type(s.type) for n, s in samples.items()}}
    table = their(columns, key=key, options={"bucket": "2"} if key else {})
    state = [{"id": i, **r} for i, r in enumerate(value_rows(60, samples))]
    table.write(state)
    table.check(state)
    more = [{"id": i + 50, **r} for i, r in enumerate(value_rows(40, samples, 5))]
    table.ours.write(more)
    table.check(state + more)
    table.ours.compact(full=True)
    table.check(state + more)


@pytest.mark.parametrize("layout", ["plain", "partitioned", "bucketed"])
def test_append(their, layout):
    more = {
        "plain": {},
        "partitioned": {"partition": ["code", "day"]},
        "bucketed": {"options": {"bucket": "3", "bucket-key": "id"}},
    }[layout]
    table = their(COLUMNS, **more)
    state = _rows(range(40), "a")
    table.write(state)
    table.check(state)
    table.write(state[:10])
    state = state + state[:10]
    table.check(state)
    table.ours.write(_rows(range(20), "b"))
    state += _rows(range(20), "b")
    table.check(state)
    table.ours.compact(full=True)
    table.check(state)
    table.write(state[:3])
    state += state[:3]
    table.check(state)


def test_overwritten_and_removed_partitions(their):
    table = their(COLUMNS, key=["day", "id"], partition=["day"], options={"bucket": "2"})
    table.write(_rows(range(20), "a"))
    table.write(_rows(range(0, 6, 2), "part"), overwrite={"day": 0})
    state = [*(r for r in _rows(range(20), "a") if r["day"] == 1), *_rows(range(0, 6, 2), "part")]
    table.check(state)
    table.truncate([{"day": 1}])
    state = [r for r in state if r["day"] == 0]
    table.check(state)
    table.ours.write(_rows(range(1, 5), "ours"))
    state += _rows(range(1, 5), "ours")
    table.check(state)
    table.write(_rows(range(3), "all"), overwrite={})
    found = table.ours.read()
    table.truncate()
    table.check([])
    assert found.num_rows > 0
    table.write(_rows(range(3), "again"))
    table.check(_rows(range(3), "again"))


def test_null_and_strange_partitions(their):
    table = their({"p": TEXT, "id": ID}, partition=["p"])
    state = [{"p": p, "id": i} for i, p in enumerate((None, "a", "x/y=z", "100%", "é ü", "a:b", "\t"))]
    table.write(state)
    table.check(state)
    table.ours.write(state)
    table.check(state + state)
    # Both of us used the same directories.
    assert len({b.partition_path for b in table.ours.table.scan().buckets}) == 6


def test_every_snapshot(their, paimon, catalog):
    table = their(COLUMNS, key=["id"], options={"bucket": "2"})
    for step in range(5):
        table.write(_rows(range(step, step + 10), f"s{step}"))
    table.ours.compact(full=True)
    for snapshot in table.ours.table.snapshots():
        for reader in EVERY_READER:
            found = paimon.read(reader, catalog.warehouse, table.ours.name, snapshot=snapshot.id)
            assert_same(table.ours.read(snapshot.id), found, f"{reader} at {snapshot.id}")


def test_our_added_column(their):
    """Their files carry what their writer knew; a column of ours is null there and filled by their next write."""
    table = their({"id": ID, "text": TEXT}, key=["id"], options={"bucket": "1"})
    table.write([{"id": 1, "text": "a"}, {"id": 2, "text": "b"}])
    table.ours.alter(AddColumn("more", AtomicType("INT")))
    table.schema = table.schema.append(pa.field("more", INT))
    table.check([{"id": 1, "text": "a"}, {"id": 2, "text": "b"}])
    table.write([{"id": 2, "text": "c", "more": 7}])
    table.check([{"id": 1, "text": "a"}, {"id": 2, "text": "c", "more": 7}])
    table.ours.compact(full=True)
    table.check([{"id": 1, "text": "a"}, {"id": 2, "text": "c", "more": 7}])


def test_deletes_of_theirs(their):
    """With a column that names the kind of each row their writer can delete, and so can ours."""
    table = their({"id": ID, "kind": TEXT, "text": TEXT}, key=["id"], options={"bucket": "2", "rowkind.field": "kind"})
    table.write([{"id": i, "kind": "+I", "text": f"a{i}"} for i in range(10)])
    table.write([{"id": i, "kind": "-D", "text": None} for i in range(0, 10, 2)])
    table.check([{"id": i, "kind": "+I", "text": f"a{i}"} for i in range(1, 10, 2)])
    ours = table.ours.table
    changes = [{"id": 1, "kind": "-D"}, {"id": 3, "kind": "+U", "text": "ours"}, {"id": 20, "kind": "+I"}]
    ours.write(rows_of(ours.schema, changes))
    state = [{"id": 3, "kind": "+U", "text": "ours"}, {"id": 20, "kind": "+I", "text": None}]
    state += [{"id": i, "kind": "+I", "text": f"a{i}"} for i in (5, 7, 9)]
    table.check(state)
    table.ours.compact(full=True)
    table.check(state)


def test_sequence_field(their):
    table = their({"id": ID, "seq": INT, "text": TEXT}, key=["id"], options={"bucket": "1", "sequence.field": "seq"})
    table.write([{"id": i, "seq": i % 3, "text": "first"} for i in range(9)])
    table.write([{"id": i, "seq": 1, "text": "second"} for i in range(9)])
    state = [{"id": i, "seq": max(i % 3, 1), "text": "first" if i % 3 == 2 else "second"} for i in range(9)]
    table.check(state)
    table.ours.write([{"id": i, "seq": 2, "text": "ours"} for i in range(0, 9, 2)])
    table.ours.write([{"id": i, "seq": 0, "text": "late"} for i in range(9)])
    state += [{"id": i, "seq": 2, "text": "ours"} for i in range(0, 9, 2)]
    table.check(state)
    table.ours.compact(full=True)
    table.check(state)


def test_dynamic_buckets(their):
    """Their index says which bucket a key is in. See also test_dynamic_buckets.py."""
    table = their(COLUMNS, key=["id"], options={"bucket": "-1", "dynamic-bucket.target-row-num": "10"})
    state = _rows(range(40), "a")
    table.write(state)
    table.write(_rows(range(30, 50), "b"))
    state += _rows(range(30, 50), "b")
    table.check(state)
    assert len({b.bucket for b in table.ours.table.scan().buckets}) > 1
    table.ours.write(rows_of(table.ours.table.schema, _rows(range(45, 60), "ours")))
    state += _rows(range(45, 60), "ours")
    table.check(state)
