"""Rows in any order become the same files' content as if they were sorted at once, in bounded memory."""

from __future__ import annotations

import os
import tempfile
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.arrow_memory import arrow_memory
from support.files import data_files
from support.invariants import check_invariants
from support.soak import examples
from support.tables import arrow_rows, compact, identity, make_table, new_job, read, write

from tablestore_engine.errors import DuplicateKeyError, PrimaryKeyError, StorageError
from tablestore_engine.mergetree.merge.merge_runs import merge_sorted
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.write.write_buffer import (
    MOST_RUNS,
    BufferSizes,
    WriteBuffer,
    to_spill,
    write_tables,
)
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN, ORDINAL_COLUMN

COLUMNS = {"p": "STRING", "id": "INT", "v": "STRING", "n": "BIGINT"}
TINY = BufferSizes(bucket=400, total=900)


def key_of(row):
    return (row["p"], row["id"], row["v"] or "", -1 if row["n"] is None else row["n"])


def commit(table, result):
    Committer(table.state).commit(Change("APPEND", tuple(result.entries)), identity())


@pytest.mark.parametrize(
    ("sizes", "spilled"),
    [
        ([10, 20, 30], []),
        ([10, 100, 30], [1]),
        ([100, 100, 30], [0, 1]),
        ([90, 60, 50, 40], [0, 1]),
        ([90, 100, 80, 70], [1, 0, 2]),
        ([40] * 6, [0, 1, 2, 3]),
    ],
    ids=["room", "one is full", "two are full", "the largest go first", "full ones and the largest", "equals"],
)
def test_the_largest_buffers_are_spilled(sizes, spilled):
    assert to_spill(sizes, BufferSizes(bucket=100, total=200)) == spilled


rows = st.fixed_dictionaries(
    {
        "p": st.sampled_from("ab"),
        "id": st.integers(0, 8),
        "v": st.none() | st.text("xyz", max_size=3),
        "n": st.none() | st.integers(0, 5),
    }
)


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["p", "id"], {"bucket": "3"}),
        (["p", "id"], {"bucket": "2", "sequence.field": "n"}),
        (["p", "id"], {"bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum",
                       "fields.v.aggregate-function": "listagg"}),
        (["p", "id"], {"bucket": "1", "merge-engine": "partial-update"}),
        (["p", "id"], {"bucket": "1", "merge-engine": "first-row"}),
        ([], {}),
    ],
    ids=["last row", "sequence field", "aggregation", "partial update", "first row", "append"],
)  # fmt: skip
@settings(max_examples=examples(8), deadline=None)
@given(batches=st.lists(st.lists(rows, max_size=12), min_size=1, max_size=12))
def test_the_same_rows_as_written_at_once(tmp_path_factory, keys, options, batches):
    folder = tmp_path_factory.mktemp("t")
    buffered = make_table(folder, COLUMNS, keys, ["p"], options, name="buffered")
    at_once = make_table(folder, COLUMNS, keys, ["p"], options, name="at_once")
    tables = [arrow_rows(buffered.schema, batch) for batch in batches]
    result = write_tables(new_job(buffered), tables, TINY)
    commit(buffered, result)
    commit(at_once, write_table(new_job(at_once), pa.concat_tables(tables)))
    assert result.rows_in == sum(map(len, batches))
    check_invariants(buffered)
    assert sorted(read(buffered), key=key_of) == sorted(read(at_once), key=key_of)


def test_row_kinds_keep_their_order(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "2"})
    write(table, [{"p": "a", "id": i, "v": "old"} for i in range(60)])
    tables = []
    for start in range(0, 60, 5):
        ids = range(start, start + 5)
        deleted = [{"p": "a", "id": i} for i in ids]
        back = [{"p": "a", "id": i, "v": "new"} for i in ids if i % 2]
        tables.append(arrow_rows(table.schema, deleted + back, [3] * len(deleted) + [0] * len(back)))
    buffer = WriteBuffer(new_job(table), TINY, tables[0].column_names)
    for one in tables:
        buffer.add(one)
    assert buffer.spilled_runs > 2
    commit(table, buffer.close())
    assert sorted((row["id"], row["v"]) for row in read(table)) == [(i, "new") for i in range(1, 60, 2)]


COLLECTED = {"p": "STRING", "id": "INT", "n": "BIGINT", "l": {"type": "ARRAY", "element": "INT"}}
COLLECT = {"bucket": "2", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum",
           "fields.l.aggregate-function": "collect"}  # fmt: skip
changes = st.fixed_dictionaries(
    {
        "p": st.sampled_from("ab"),
        "id": st.integers(0, 4),
        "n": st.none() | st.integers(0, 5),
        "l": st.none() | st.lists(st.integers(0, 2), max_size=2),
    }
)


@pytest.mark.parametrize(
    "options",
    [
        COLLECT,
        {**COLLECT, "aggregation.remove-record-on-delete": "true"},
        {"bucket": "2", "merge-engine": "partial-update", "fields.n.sequence-group": "l"},
    ],
    ids=["layers", "layers and deletes", "sequence group"],
)
@settings(max_examples=examples(6), deadline=None)
@given(
    before=st.lists(changes, max_size=3),
    batches=st.lists(st.lists(st.tuples(changes, st.sampled_from([0, 0, 1, 3])), max_size=10), min_size=1, max_size=10),
)
def test_retractions_take_back_the_same(tmp_path_factory, options, before, batches):
    folder = tmp_path_factory.mktemp("t")
    buffered = make_table(folder, COLLECTED, ["p", "id"], ["p"], options, name="buffered")
    at_once = make_table(folder, COLLECTED, ["p", "id"], ["p"], options, name="at_once")
    for table in (buffered, at_once):
        write(table, before)
    tables = [arrow_rows(buffered.schema, [r for r, _ in b], [k for _, k in b]) for b in batches]
    commit(buffered, write_tables(new_job(buffered), tables, TINY))
    commit(at_once, write_table(new_job(at_once), pa.concat_tables(tables)))
    check_invariants(buffered)
    assert sorted(read(buffered), key=str) == sorted(read(at_once), key=str)
    compact(buffered)
    assert sorted(read(buffered), key=str) == sorted(read(at_once), key=str)


@pytest.mark.parametrize("spills", ["true", "false"])
def test_rows_with_a_bucket_and_a_number_of_their_own(tmp_path, spills):
    """As the tasks of a stream have them: rows of a key do not come in their order."""
    options = {"bucket": "2", "write-buffer-spillable": spills}
    table = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], options)
    job = new_job(table)
    tables = [
        arrow_rows(table.schema, [{"p": "a", "id": n, "v": str(v)} for n in range(9)])
        .append_column(ORDINAL_COLUMN, pa.array([10 * n + v for n in range(9)], pa.int64()))
        .append_column(BUCKET_COLUMN, pa.array([n % 2 for n in range(9)], pa.int32()))
        for v in (1, 2, 0)
    ]
    commit(table, write_tables(job, tables, BufferSizes(bucket=300, total=1000)))
    assert sorted(row["v"] for row in read(table)) == ["2"] * 9
    assert {entry.bucket for entry in table.live_files()} == {0, 1}


MEBI = 1 << 20


@pytest.mark.cover
@pytest.mark.parametrize("width", [20, 1000])
@pytest.mark.parametrize("partitions", [1, 200])
def test_memory_stays_within_its_bound(tmp_path, partitions, width):
    """Also while the runs are merged, of which there are more than are merged at once."""
    columns, options = {"p": "INT", "id": "INT", "v": "STRING"}, {"bucket": "1", "target-file-size": "1 mb"}
    table = make_table(tmp_path, columns, ["p", "id"], ["p"], options)
    sizes, rows = BufferSizes(bucket=MEBI // 4, total=2 * MEBI), (12 * MEBI) // (width + 12)
    step = rows // 40
    with arrow_memory() as adding:
        buffer = WriteBuffer(new_job(table), sizes, table.schema.field_names)
        given_bytes = 0
        for start in range(0, rows, step):
            # In an order in which no run is a part of the table's.
            ids = (np.arange(start, start + step) * 7919) % (1 << 22)
            batch = pa.table({
                "p": pa.array(ids % partitions, pa.int32()),
                "id": pa.array(ids, pa.int32()),
                "v": pc.utf8_lpad(pa.array(ids).cast(pa.string()), width, "0"),
            })  # fmt: skip
            given_bytes += batch.nbytes
            buffer.add(batch)
            del batch
        assert given_bytes > 5 * sizes.total
        assert buffer.spilled_runs > MOST_RUNS
        # What is held is padded by Arrow to 64 bytes for each column of each piece.
        assert adding.max_memory() < 2 * sizes.total
    with arrow_memory() as closing:
        result = buffer.close()
    assert result.rows_out == len(range(0, rows, step)) * step
    # Runs are merged before files are written: these are as few as a bulk load makes.
    assert len(result.entries) <= max(partitions, 12)
    # A row group is copied into one piece before it is encoded.
    assert closing.max_memory() < 2 * sizes.total + 2 * MEBI
    commit(table, result)
    assert len(table.to_arrow(["id"]).column("id").unique()) == result.rows_out


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sequence.field": "n"},
        {"merge-engine": "aggregation", "fields.v.aggregate-function": "listagg"},
    ],
    ids=["last row", "sequence field", "aggregation"],
)
def test_more_runs_than_are_merged_at_once(tmp_path, monkeypatch, options):
    module, at_once = "tablestore_engine.operation.write.write_buffer", []
    monkeypatch.setattr(f"{module}.MOST_RUNS", 3)

    def counted(runs, *args):
        at_once.append(len(runs))
        return merge_sorted(runs, *args)

    monkeypatch.setattr(f"{module}.merge_sorted", counted)
    buffered = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1", **options}, name="buffered")
    whole = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1", **options}, name="whole")
    random = Random(7)
    tables = [
        arrow_rows(
            buffered.schema,
            [{"p": "a", "id": random.randrange(60), "v": f"{t}-{i}", "n": random.randrange(9)} for i in range(20)],
        )
        for t in range(40)
    ]
    commit(buffered, write_tables(new_job(buffered), tables, BufferSizes(bucket=1000, total=4000)))
    assert max(at_once) == 3
    assert len(at_once) > 5
    commit(whole, write_table(new_job(whole), pa.concat_tables(tables)))
    assert sorted(read(buffered), key=key_of) == sorted(read(whole), key=key_of)
    check_invariants(buffered)


def test_a_duplicate_key_is_found_across_runs(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1"})
    batches = [arrow_rows(table.schema, [{"p": "a", "id": i % 90, "v": "x" * 50}]) for i in range(91)]
    with pytest.raises(DuplicateKeyError, match="id=0"):
        write_tables(new_job(table, refuse_duplicates=True), batches, TINY)
    assert not data_files(table)


def test_a_wrong_row_leaves_nothing(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1"})
    batches = [arrow_rows(table.schema, [{"p": "a", "id": i, "v": "x" * 50}]) for i in range(90)]
    wrong = arrow_rows(table.schema, [{"p": "a"}])
    with pytest.raises(PrimaryKeyError, match="'id' has 1 null"):
        write_tables(new_job(table), [*batches, wrong], TINY)
    assert not data_files(table)


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    table = make_table(tmp_path, COLUMNS, ["p", "id"], ["p"], {"bucket": "1"})
    batches = [arrow_rows(table.schema, [{"p": "a", "id": i, "v": "x" * 50}]) for i in range(90)]
    with pytest.raises(StorageError, match=r"missing: rows cannot be spilled .* TMPDIR"):
        write_tables(new_job(table), batches, TINY)
    assert not data_files(table)


def test_a_table_takes_batches_as_they_come(tmp_path):
    options = {"bucket": "2", "write-buffer-size": "10 kb", "write-buffer-total-size": "20 kb"}
    table = make_table(tmp_path, {"id": "BIGINT", "v": "STRING"}, ["id"], options=options)
    schema = pa.schema([("v", pa.string()), ("id", pa.int64())])

    def batches():
        for start in (2000, 0, 1000, 500):
            ids = range(start, start + 1000)
            values = [f"{start}-{i}" for i in ids]
            yield pa.record_batch([pa.array(values), pa.array(ids, pa.int64())], schema=schema)

    table.write(pa.RecordBatchReader.from_batches(schema, batches()))
    table.write(iter([pa.record_batch([["last"], [7]], schema=schema)]))
    found = {row["id"]: row["v"] for row in read(table)}
    assert sorted(found) == list(range(3000))
    assert (found[7], found[499], found[500], found[1499], found[2000]) == (
        "last", "0-499", "500-500", "500-1499", "2000-2000",
    )  # fmt: skip
    check_invariants(table)
    left = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("tablestore-spill-")]
    assert left == []


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["id"], {"bucket": "2"}),
        (["id"], {"bucket": "1", "merge-engine": "first-row"}),
        (["id"], {"bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "max"}),
        ([], {}),
    ],
    ids=["last row", "first row", "aggregation", "append"],
)
def test_a_buffer_that_does_not_spill_writes_files(tmp_path, monkeypatch, keys, options):
    rng = Random(1)
    given = [{"p": "a", "id": rng.randrange(60), "v": f"v{n}", "n": n} for n in range(400)]
    plain = make_table(tmp_path, COLUMNS, keys, options=options, name="plain")
    commit(plain, write_table(new_job(plain), arrow_rows(plain.schema, given)))
    table = make_table(tmp_path, COLUMNS, keys, options={**options, "write-buffer-spillable": "false"})
    monkeypatch.setattr(tempfile, "TemporaryFile", None)  # nothing is spilled
    pieces = [arrow_rows(table.schema, given[at : at + 40]) for at in range(0, 400, 40)]
    commit(table, write_tables(new_job(table), pieces, BufferSizes(bucket=2_000, total=3_000)))
    assert len(table.live_files()) > len(plain.live_files())
    check_invariants(table)
    assert sorted(map(repr, read(table))) == sorted(map(repr, read(plain)))
    if keys:
        compact(table)
        check_invariants(table)
        assert sorted(map(repr, read(table))) == sorted(map(repr, read(plain)))


def test_files_of_a_write_that_fails_are_removed(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1", "write-buffer-spillable": "false"})
    good = arrow_rows(table.schema, [{"p": "a", "id": n, "v": "x" * 20, "n": n} for n in range(50)])
    bad = arrow_rows(table.schema, [{"p": "a", "id": None}])
    with pytest.raises(PrimaryKeyError):
        write_tables(new_job(table), [good, bad], BufferSizes(bucket=500, total=500))
    assert not data_files(table)
