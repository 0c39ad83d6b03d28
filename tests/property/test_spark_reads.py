"""What Spark reads of tables with random histories is what Arrow reads: several runs, row kinds, all types.

The other tests here compare Arrow's reads with folds. Spark's take longer, so there are fewer of them, at the end of
a history only. Keys that cross partitions are written by Spark alone, hence a few histories by seed.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.histories import EXAMPLES, PROFILE, made
from support.histories import histories as histories_of_keys
from support.histories import shown as shown_rows
from support.invariants import check_invariants
from support.merge_engine_histories import FOLDS, PLAIN, engine_options, histories
from support.player import Player
from support.tables import compact, compact_newest, make_table, scratch_directory

from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark

FEW = settings(PROFILE, max_examples=max(5, EXAMPLES // 20))


def by_spark(spark, directory):
    return TableStore(directory, new_session(spark)).sql("SELECT * FROM t").toArrow().to_pylist()


def comparable(value):
    """Of a value that may be a map, its entries in an order; of a sketch, its bytes: its coupons come in any order."""
    if isinstance(value, bytes | bytearray):
        return sorted(value)
    entries = isinstance(value, list) and all(isinstance(one, tuple) for one in value)
    return sorted(value, key=repr) if entries else value


@FEW
@given(history=histories_of_keys(keyed=True))
def test_rows_of_all_types(spark, history):
    (columns, *_), steps, _ = history
    with scratch_directory("history-") as directory:
        player = made(directory, history)
        for step in steps:
            player.take(*step)
        shown = shown_rows(columns)
        assert shown(by_spark(spark, directory)) == shown(player.table.to_arrow().to_pylist())


@FEW
@given(data=st.data(), folds=st.sampled_from([FOLDS, PLAIN]))
def test_folded_rows(spark, data, folds):
    chosen = data.draw(st.lists(st.sampled_from(folds), min_size=2, max_size=6), label="folds")
    retractable = folds is PLAIN
    kinds = [0, 2, 1, 3] if retractable else [0, 2]
    more, steps, piece = data.draw(histories({f"v{i}": one[2] for i, one in enumerate(chosen)}, kinds))
    columns = {"p": "INT", "id": "INT", **{f"v{i}": one[1] for i, one in enumerate(chosen)}}
    options = {**more, **engine_options(chosen, [False] * len(chosen))}
    with scratch_directory("history-") as directory:
        table = make_table(directory, columns, ["p", "id"], ["p"], options)
        player = Player(table, pieces=piece)
        for step in steps:
            player.take(*step)
        assert shown_folds(by_spark(spark, directory)) == shown_folds(table.to_arrow().to_pylist())


@FEW
@given(data=st.data(), groups=st.booleans())
def test_rows_that_columns_order(spark, data, groups):
    """Late records with every function, by `sequence.field` or in a sequence group: Spark folds them as Arrow does."""
    ordered = [one for one in FOLDS if one[0] not in ("count", "theta_sketch")]
    chosen = data.draw(st.lists(st.sampled_from(ordered), min_size=2, max_size=6), label="folds")
    values = {"at": st.integers(0, 3), **{f"v{i}": one[2] for i, one in enumerate(chosen)}}
    more, steps, piece = data.draw(histories(values, [0, 2]))
    columns = {"p": "INT", "id": "INT", "at": "INT", **{f"v{i}": one[1] for i, one in enumerate(chosen)}}
    options = {**more, **engine_options(chosen, [False] * len(chosen))}
    if groups:
        members = ",".join(f"v{i}" for i in range(len(chosen)))
        options |= {"merge-engine": "partial-update", "fields.at.sequence-group": members}
    else:
        options |= {"sequence.field": "at"}
        options["sequence.field.sort-order"] = data.draw(st.sampled_from(["ascending", "descending"]))
    with scratch_directory("history-") as directory:
        table = make_table(directory, columns, ["p", "id"], ["p"], options)
        player = Player(table, pieces=piece)
        for step in steps:
            player.take(*step)
        assert shown_folds(by_spark(spark, directory)) == shown_folds(table.to_arrow().to_pylist())


def shown_folds(rows):
    plain = [{name: comparable(value) for name, value in row.items()} for row in rows]
    return sorted(plain, key=lambda row: (row["p"], row["id"]))


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
    options = {"bucket": "-1", "dynamic-bucket.target-row-num": "2", "merge-engine": engine, "write-only": "true"}
    columns = {"p": "INT", "id": "INT", "v": "INT", "w": "STRING"}
    make_table(tmp_path, columns, ["id"], ["p"], {**options, **ENGINES[engine]})
    store, records = TableStore(tmp_path, new_session(spark)), {}
    kinds = ["+I", "+U", "-D"] if engine == "deduplicate" else ["+I", "+U"]
    for _ in range(2 if EXAMPLES < 500 else 6):
        batch = [
            {
                "p": rng.choice([None, 0, 1]), "id": rng.randrange(6), "v": rng.choice([None, 1, 2, 3]),
                "w": rng.choice([None, "a", "b"]), "_row_kind": rng.choice(kinds),
            }
            for _ in range(7)
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
