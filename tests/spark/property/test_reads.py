"""What Spark reads of tables with random histories is what Arrow reads: several runs, row kinds, all types.

The tests in tests/property compare Arrow's reads with folds. Spark's take longer, so one query reads many histories:
each partition of a table has its own, and each key where keys cross partitions. Those are written by Spark alone, hence
by seed.
"""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import EXAMPLES, KINDS, MANY, SIDE_BY_SIDE, THOROUGH, TYPES, bucket_options, rows_of, tables
from support.histories import shown as shown_rows
from support.invariants import check_invariants
from support.merge_engine_histories import FOLDS, PLAIN, engine_options
from support.player import Player
from support.scratch import scratch_directory
from support.tables import compact, compact_newest, make_table

from tablestore_engine.mergetree.sketch import theta_sketch
from tablestore_engine.operation.read import superseded_rows
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark

SEVERAL = settings(THOROUGH, max_examples=-(-MANY // SIDE_BY_SIDE))
SEEDS = st.integers(0, 2**32 - 1)


def by_spark(spark, directory):
    return TableStore(directory, new_session(spark)).sql("SELECT * FROM t").toArrow().to_pylist()


def play_side_by_side(table, rows, kinds, random):
    """Play a history of its own in each partition `h` of a table: its writes, and its compactions of newest runs.

    The records of a write are those of `rows`, with the keys of others of them.
    """
    player, keys = Player(table, pieces=random.randint(1, 9)), table.schema.primary_keys
    for _ in range(random.randint(2, 5)):
        batch = [
            ({**random.choice(rows), **{key: row[key] for key in keys if key in row}, "h": h}, random.choice(kinds))
            for h in range(SIDE_BY_SIDE)
            if random.randrange(4)
            for row in random.choices(rows, k=random.randint(1, 5))
        ]
        player.take(random.choice(["write", "buffer", "begin"]), batch)
        if random.randrange(2):
            player.take("end", 0)
        compact_newest(table, lambda runs: random.choice([0, 0, 2, 3, len(runs)]))
    player.take("end", 0)


def comparable(value):
    """Of a value that may be a map, its entries in an order; of a sketch, its bytes: its coupons come in any order.

    The registers of an HLL sketch are compared, not its accumulator and flag of order, which depend on the merges.
    Spark writes the hashes of a Theta sketch bit by bit where that is shorter.
    """
    if isinstance(value, bytes | bytearray):
        if value[:1] == b"\x0a" and value[2:3] == b"\x07":
            value = value[:5] + value[6:8] + value[16:]
        elif value[2:3] == b"\x03":
            value = theta_sketch.union(pa.array([value]), np.zeros(1, np.int64), 1)[0].as_py()
        return sorted(value)
    entries = isinstance(value, list) and all(isinstance(one, tuple) for one in value)
    return sorted(value, key=repr) if entries else value


@SEVERAL
@given(data=st.data(), seed=SEEDS)
def test_rows_of_all_types(spark, data, seed):
    columns, keys, partition, options = data.draw(tables(keyed=True))
    rows = data.draw(st.lists(rows_of(columns, set(keys)), min_size=3, max_size=5))
    typed = {"h": "INT", **{name: TYPES.get(kind, kind) for name, kind in columns.items()}}
    shown = shown_rows(columns)
    with scratch_directory("history-") as directory, pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            patch.setattr(superseded_rows, "MOST_ROWS", 0)  # Spark joins, as where rows are many
        table = make_table(directory, typed, ["h", *keys], ["h", *partition], options)
        play_side_by_side(table, rows, KINDS, random.Random(seed))
        assert shown(by_spark(spark, directory)) == shown(table.to_arrow().to_pylist())


@st.composite
def folds(draw, among, **more):
    """Columns with a function each, of those `among` which they are chosen, and rows with four keys for them."""
    chosen = draw(st.lists(st.sampled_from(among), min_size=2, max_size=6))
    values = {**more, **{f"v{i}": one[2] for i, one in enumerate(chosen)}}
    row = st.fixed_dictionaries({"id": st.integers(0, 3), **{name: st.none() | one for name, one in values.items()}})
    options = {
        **draw(bucket_options()),
        "target-file-size": draw(st.sampled_from(["1 b", "2 kb", "128 mb"])),
        **engine_options(chosen, [False] * len(chosen)),
    }
    return chosen, draw(st.lists(row, min_size=8, max_size=16)), options


def check_folded(spark, columns, rows, options, kinds, seed):
    columns = {"h": "INT", "id": "INT", **columns}
    with scratch_directory("history-") as directory:
        table = make_table(directory, columns, ["h", "id"], ["h"], options)
        play_side_by_side(table, rows, kinds, random.Random(seed))
        assert shown_folds(by_spark(spark, directory)) == shown_folds(table.to_arrow().to_pylist())


@SEVERAL
@given(data=st.data(), retracts=st.booleans(), seed=SEEDS)
def test_folded_rows(spark, data, retracts, seed):
    chosen, rows, options = data.draw(folds(PLAIN if retracts else FOLDS))
    columns = {f"v{i}": one[1] for i, one in enumerate(chosen)}
    check_folded(spark, columns, rows, options, [0, 2, 1, 3] if retracts else [0, 2], seed)


ORDERED = [one for one in FOLDS if one[0] not in ("count", "theta_sketch")]


@SEVERAL
@given(data=st.data(), groups=st.booleans(), seed=SEEDS)
def test_rows_that_columns_order(spark, data, groups, seed):
    """Late records with every function, by `sequence.field` or in a sequence group: Spark folds them as Arrow does."""
    chosen, rows, options = data.draw(folds(ORDERED, at=st.integers(0, 3)))
    columns = {"at": "INT", **{f"v{i}": one[1] for i, one in enumerate(chosen)}}
    if groups:
        members = ",".join(f"v{i}" for i in range(len(chosen)))
        options |= {"merge-engine": "partial-update", "fields.at.sequence-group": members}
    else:
        options |= {"sequence.field": "at"}
        options["sequence.field.sort-order"] = data.draw(st.sampled_from(["ascending", "descending"]))
    check_folded(spark, columns, rows, options, [0, 2], seed)


def shown_folds(rows):
    plain = [{name: comparable(value) for name, value in row.items()} for row in rows]
    return sorted(plain, key=lambda row: (row["h"], row["id"]))


ENGINES = {
    "deduplicate": {},
    "partial-update": {},
    "aggregation": {"fields.v.aggregate-function": "sum", "fields.w.aggregate-function": "last_value"},
    "first-row": {},
}


def folded(engine, records):
    """The row of a key from its records, of which none takes anything back, and where that is."""
    first, last = records[0], records[-1]
    if engine in ("deduplicate", "first-row"):
        return last if engine == "deduplicate" else first
    values = {name: [row[name] for row in records if row[name] is not None] for name in ("v", "w")}
    if engine == "aggregation":
        return {**first, "v": sum(values["v"]) if values["v"] else None, "w": last["w"]}
    return {**first, **{name: given[-1] if given else None for name, given in values.items()}}


@pytest.mark.parametrize("seed", range(max(1, EXAMPLES // 500)))
@pytest.mark.parametrize("engine", ENGINES)
def test_keys_that_cross_partitions(spark, tmp_path, engine, seed):
    """A key is in one partition at a time, whatever was merged when: that of its last row, or of its first."""
    rng = random.Random(seed)
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "15", "merge-engine": engine, "write-only": "true"}
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    make_table(tmp_path, columns, ["id"], ["p"], {**options, **ENGINES[engine]})
    store, records = TableStore(tmp_path, new_session(spark)), {}
    kinds = ["+I", "+U", "-D"] if engine == "deduplicate" else ["+I", "+U"]
    for _ in range(2 if EXAMPLES < 500 else 6):
        batch = [
            {
                "p": rng.choice([None, 0, 1]), "id": rng.randrange(SIDE_BY_SIDE), "v": rng.choice([None, 1, 2, 3]),
                "w": rng.choice([None, "a", "b"]), "_row_kind": rng.choice(kinds),
            }
            for _ in range(SIDE_BY_SIDE + SIDE_BY_SIDE // 5)
        ]  # fmt: skip
        types = [("p", pa.int32()), ("id", pa.int32()), ("v", pa.int32()), ("w", pa.string())]
        given_rows = pa.Table.from_pylist(batch, pa.schema([*types, ("_row_kind", pa.string())]))
        store.write("t", store.spark.createDataFrame(given_rows).coalesce(1))
        for row in batch:
            kind = row.pop("_row_kind")
            if kind == "-D":
                records.pop(row["id"], None)
            else:
                records.setdefault(row["id"], []).append(row)
        table = store.table("t")
        wanted = sorted((folded(engine, of_key) for of_key in records.values()), key=lambda row: row["id"])
        assert sorted(table.to_arrow().to_pylist(), key=lambda row: row["id"]) == wanted
        check_invariants(table)
        merge = rng.randrange(3)
        if merge == 1:
            compact_newest(table, 2)
        elif merge == 2:
            compact(table)
    found = store.sql("SELECT * FROM t").toArrow().to_pylist()
    assert sorted(found, key=lambda row: row["id"]) == wanted
