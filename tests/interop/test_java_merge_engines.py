"""Java Paimon, the reference, takes back what our rows take back, and we what its rows do."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from support import naive_sketches as naive
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable, rows_of
from support.roaring import bitmap_of, numbers_of

from tablestore_engine.mergetree.merge.aggregate_kernels import fold_values
from tablestore_engine.mergetree.merge.groups import Groups
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import ArrayType, AtomicType

COLUMNS = {
    "id": AtomicType("BIGINT"),
    "n": AtomicType("INT"),
    "d": AtomicType("DECIMAL", True, 12, 2),
    "s": AtomicType("STRING"),
    "l": ArrayType(AtomicType("INT")),
}
CHANGES = (0, 1, 2, 3)
CASES = {
    "default_function": ({"merge-engine": "aggregation"}, CHANGES),
    "sums": (
        {
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "sum",
            "fields.d.aggregate-function": "sum",
            "fields.s.aggregate-function": "last_value",
            "fields.l.aggregate-function": "last_value",
        },
        CHANGES,
    ),
    "in_order": (
        {
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "product",
            "fields.d.aggregate-function": "sum",
            "fields.l.aggregate-function": "collect",
        },
        CHANGES,
    ),
    "ignored": (
        {
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "max",
            "fields.n.ignore-retract": "true",
            "fields.s.aggregate-function": "listagg",
            "fields.s.ignore-retract": "true",
        },
        CHANGES,
    ),
    "removes": (
        {
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "sum",
            "fields.s.aggregate-function": "max",
            "aggregation.remove-record-on-delete": "true",
        },
        (0, 2, 3),
    ),
    "partial_removes": (
        {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
        (0, 2, 3),
    ),
    "partial_ignores": ({"merge-engine": "partial-update", "ignore-delete": "true"}, CHANGES),
    "groups": (
        {
            "merge-engine": "partial-update",
            "fields.n.sequence-group": "s,d",
            "fields.d.aggregate-function": "sum",
        },
        (0, 2, 3),
    ),
    "groups_remove": (
        {
            "merge-engine": "partial-update",
            "fields.n.sequence-group": "s,d",
            "partial-update.remove-record-on-sequence-group": "n",
        },
        (0, 2, 3),
    ),
}  # fmt: skip


@pytest.fixture
def same(java):
    """Check that Java finds the rows that the engine finds."""

    def check(table: OurTable):
        own = table.read()
        _, rows = java.read(table.table.path)
        expected = multiset_of(own, table.table.schema)
        assert rows == expected, [
            sorted((rows - expected).elements())[:5],
            sorted((expected - rows).elements())[:5],
        ]
        return own

    return check


def _row(i, step):
    return {
        "id": i,
        "n": None if (i + step) % 5 == 0 else (1, -1, 2)[(i + step) % 3],
        "d": None if (i + step) % 4 == 0 else Decimal(i * step % 7) / 4,
        "s": None if (i + step) % 6 == 0 else f"{step}-{i}",
        "l": None if (i + step) % 7 == 0 else [i % 2, step % 2, None],
    }


def _changes(table, kinds, step):
    """Two changes each of some keys, of every kind in turn."""
    changes = []
    for i in range(step, 24, 2):
        changes += [
            (_row(i, step), kinds[(i + step) % len(kinds)]),
            (_row(i, step + 1), kinds[i % len(kinds)]),
        ]
    numbers = pa.array([kind for _, kind in changes], pa.int8())
    return rows_of(table.table.schema, [row for row, _ in changes]).append_column(ROW_KIND_COLUMN, numbers)


@pytest.mark.parametrize("case", CASES)
def test_changes(catalog, java, same, name, case):
    options, kinds = CASES[case]
    # A row that comes back after a -D that removed it: Java builds it upon the values of that -D until a compaction has
    # dropped it, we begin anew.
    settled = "remove" in case
    table = OurTable.create(catalog, name, COLUMNS, key=["id"], options={"bucket": "1", **options})
    more = OurTable.create(catalog, f"{name}_more", COLUMNS)
    # Of a key with nothing but retractions Java and we say different things.
    table.write([_row(i, 0) for i in range(24)])
    for step in range(3):
        table.write(_changes(table, kinds, step))
        if settled:
            table.compact(full=True)
        same(table)
    more.write([_row(i, 9) for i in range(0, 24, 3)])
    java.ask("copy", table.table.path, more.table.path)
    same(table)
    java.ask("delete", table.table.path, more.table.path)
    same(table)
    table.write(_changes(table, kinds, 4))
    before = table.read().sort_by("id").to_pylist()
    if not settled:
        same(table)
        table.compact(full=False)
        assert same(table).sort_by("id").to_pylist() == before
    table.compact(full=True)
    assert same(table).sort_by("id").to_pylist() == before
    if settled:
        return
    table.write(_changes(table, kinds, 5))
    before = same(table).sort_by("id").to_pylist()
    java.ask("compact", table.table.path)
    assert same(table).sort_by("id").to_pylist() == before


SKETCHES = {"h": Fold("h", "hll_sketch"), "t": Fold("t", "theta_sketch")}


def _sketches(rng, size):
    coupons = {(rng.getrandbits(26), min(1 + int(rng.expovariate(0.7)), 40)) for _ in range(size)}
    return {"h": naive.hll(coupons), "t": naive.theta({rng.randrange(1, naive.WHOLE) for _ in range(4 * size)})}


def _as_unions(rows):
    """What sketches hold, whatever their layout: each united with an empty one."""
    empty = {"h": naive.hll([]), "t": naive.theta([])}
    found = {}
    for row in rows:
        pairs = {name: pa.array([row[name], empty[name]], pa.binary()) for name in SKETCHES}
        groups = Groups(np.array([0]), 2)
        found[row["id"]] = {n: fold_values(SKETCHES[n], pairs[n], groups)[0].as_py() for n in SKETCHES}
    return found


def test_sketches(catalog, java, name):
    """Unions of lists, sets and registers, and of more hashes than a union keeps."""
    columns = {"id": AtomicType("BIGINT"), "h": AtomicType("BYTES"), "t": AtomicType("BYTES")}
    options = {"bucket": "1", "merge-engine": "aggregation"}
    options |= {f"fields.{n}.aggregate-function": fold.function for n, fold in SKETCHES.items()}
    table = OurTable.create(catalog, name, columns, key=["id"], options=options)
    rng = random.Random(3)
    for _ in range(3):
        table.write([{"id": size, **_sketches(rng, size)} for size in (1, 2, 60, 1000)])
    own = _as_unions(table.read().to_pylist())

    def by_java():
        rows = [json.loads(row) for row in java.read(table.table.path)[1]]
        return _as_unions({"id": i, "h": bytes.fromhex(h), "t": bytes.fromhex(t)} for i, h, t in rows)

    assert by_java() == own
    java.ask("compact", table.table.path)
    assert _as_unions(table.read().to_pylist()) == own
    table.write([{"id": size, **_sketches(rng, size)} for size in (1, 2, 60, 1000)])
    own = _as_unions(table.read().to_pylist())
    assert by_java() == own
    table.compact(full=True)
    assert by_java() == _as_unions(table.read().to_pylist()) == own


@pytest.mark.parametrize("function", ["rbm32", "rbm64"])
def test_roaring_bitmaps(catalog, java, name, function):
    """Unions of arrays, bits and runs, made here and by Java."""
    columns = {"id": AtomicType("BIGINT"), "b": AtomicType("BYTES")}
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.b.aggregate-function": function}
    table = OurTable.create(catalog, name, columns, key=["id"], options=options)
    rng, expected = random.Random(4), {}

    def write():
        sets = {n: set(rng.sample(range(2**n), min(2**n, 9_000))) for n in (1, 8, 16, 31)}
        sets[32] = {2**32 - 1, *range(rng.randrange(500), 70_000)}
        if function == "rbm64":
            sets[64] = {rng.getrandbits(rng.choice((20, 48, 64))) for _ in range(500)}
        table.write([{"id": n, "b": bitmap_of(numbers, function)} for n, numbers in sets.items()])
        for n, numbers in sets.items():
            expected[n] = sorted({*expected.get(n, ()), *numbers})

    def check():
        rows = [json.loads(row) for row in java.read(table.table.path)[1]]
        assert {n: numbers_of(bytes.fromhex(data), function) for n, data in rows} == expected
        assert {row["id"]: numbers_of(row["b"], function) for row in table.read().to_pylist()} == expected

    for _ in range(3):
        write()
    check()
    java.ask("compact", table.table.path)
    check()
    write()
    check()
    table.compact(full=True)
    check()


@pytest.mark.parametrize(("keys", "named", "rows"), [(["id"], "id", 1), (["id"], "n", 1), ([], "id", 2)])
def test_a_primary_key_among_the_options_of_a_schema(java, catalog, same, name, keys, named, rows):
    """Java takes the option out when it makes a table. In a schema that has it, the list of keys decides alone."""
    options = {"bucket": "1", "bucket-key": "id"} if not keys else {"bucket": "1"}
    schema = create_schema([(n, COLUMNS[n], None) for n in ("id", "n")], keys, options=options)
    catalog.create_database("db", if_not_exists=True)
    catalog.create_table("db", name, replace(schema, options={**schema.options, "primary-key": named}))
    table = OurTable(catalog, "db", name)
    for n in (1, 2):
        table.write([{"id": 1, "n": n}])
        assert same(table).num_rows == (n if rows > 1 else 1)
    java.ask("compact", table.table.path, "write-only=false")
    assert same(table).num_rows == rows
