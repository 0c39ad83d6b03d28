"""What one task of a write does: duplicates, nulls, deletes, order and row positions."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.files import data_files, path_of
from support.invariants import check_invariants
from support.tables import DELETE, PUT, arrow_rows, by_key, compact, compact_newest, make_table, new_job, read, write

from tablestore_engine.errors import OptionError, PrimaryKeyError, RowKindError, SchemaError, UserError
from tablestore_engine.operation.write.write_task import write_sorted, write_table
from tablestore_engine.operation.write_job.write_job import BUCKET_COLUMN

COLUMNS = {"id": "BIGINT", "v": "STRING", "n": "INT NOT NULL"}


@pytest.fixture
def keyed(tmp_path):
    return make_table(tmp_path, COLUMNS, ["id"])


def row(number, value="x", n=0):
    return {"id": number, "v": value, "n": n}


def test_the_last_row_of_a_key_wins(keyed):
    write(keyed, [row(1, "old"), row(2, "b"), row(1, "new")])
    assert by_key(keyed) == {1: row(1, "new"), 2: row(2, "b")}
    check_invariants(keyed)


def sorted_tables(table, rows, cuts):
    data = arrow_rows(table.schema, rows).append_column(BUCKET_COLUMN, pa.array([0] * len(rows), pa.int32()))
    edges = [0, *cuts, len(rows)]
    return [data.slice(a, z - a) for a, z in itertools.pairwise(edges)]


@pytest.mark.parametrize("cuts", [[], [1], [2], [3], [1, 2, 3, 4], [2, 2]])
def test_duplicates_across_batch_boundaries(keyed, cuts):
    rows = [row(1, "a"), row(1, "b"), row(1, "c"), row(2, "d"), row(3, "e"), row(3, "f")]
    result = write_sorted(new_job(keyed), sorted_tables(keyed, rows, cuts), "t-")
    assert (result.rows_in, result.rows_out) == (6, 3)
    (entry,) = result.entries
    assert entry.file.row_count == 3


@pytest.mark.parametrize("cuts", [[], [1], [2]])
def test_refused_duplicates_are_named_and_nothing_stays(keyed, cuts):
    rows = [row(1), row(7), row(7), row(8)]
    with pytest.raises(PrimaryKeyError, match=r"Duplicate primary key.*id=7"):
        write_sorted(new_job(keyed, refuse_duplicates=True), sorted_tables(keyed, rows, cuts), "t-")
    assert not data_files(keyed)


def test_a_sample_of_many_duplicates(keyed):
    with pytest.raises(PrimaryKeyError) as caught:
        write_table(
            new_job(keyed, refuse_duplicates=True),
            arrow_rows(keyed.schema, [row(i // 2) for i in range(100)]),
        )
    assert str(caught.value).count("id=") == 5


def test_a_null_key(keyed):
    with pytest.raises(PrimaryKeyError, match="'id' has 1 null"):
        write(keyed, [row(None), row(1)])
    assert not data_files(keyed)
    assert keyed.latest_snapshot() is None


def test_a_null_in_a_not_null_column(keyed):
    with pytest.raises(SchemaError, match="'n' is NOT NULL"):
        write(keyed, [row(1, n=None)])
    assert not data_files(keyed)


def test_no_rows_no_files(keyed):
    assert write_table(new_job(keyed), arrow_rows(keyed.schema, [])).entries == []


def test_an_empty_bucket_is_filled_at_the_top(keyed):
    write(keyed, [row(1), row(2), row(3)], [PUT, DELETE, PUT])
    (entry,) = keyed.live_files()
    assert entry.file.level == keyed.options.num_levels - 1
    assert (entry.file.row_count, entry.file.delete_row_count) == (3, 1)
    assert set(by_key(keyed)) == {1, 3}


@pytest.mark.parametrize("ids", [[1], [1, 2]])
def test_deletes_of_an_empty_bucket_hide_older_rows_that_are_committed_later(keyed, ids):
    slow = new_job(keyed, sequence=0)
    kinds = [DELETE, PUT][: len(ids)]
    write(keyed, [row(number) for number in ids], kinds, job=new_job(keyed, sequence=1_000))
    write(keyed, [row(1)], job=slow)
    assert set(by_key(keyed)) == set(ids) - {1}
    compact(keyed)
    assert set(by_key(keyed)) == set(ids) - {1}
    check_invariants(keyed)


def test_later_writes_are_runs_of_level_0_and_their_deletes_hide(keyed):
    write(keyed, [row(1), row(2)])
    write(keyed, [row(2), row(3)], [DELETE, PUT])
    assert sorted(e.file.level for e in keyed.live_files()) == [0, keyed.options.num_levels - 1]
    assert set(by_key(keyed)) == {1, 3}
    write(keyed, [row(2, "again")])
    assert by_key(keyed)[2] == row(2, "again")
    check_invariants(keyed)


PRODUCT = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "product"}


def factors(*texts):
    return [{"id": 1, "v": Decimal(text)} for text in texts]


@pytest.mark.parametrize("cuts", [[4], [1, 3], [1, 2, 1], [1, 1, 1, 1]])
@pytest.mark.parametrize("merge", [lambda _: None, lambda table: compact_newest(table, 2), compact])
def test_a_product_rounds_factor_by_factor(tmp_path, cuts, merge):
    """200 * 1 * 0.05 * 0.05 is 0.5, and 0.05 * 0.05 would round to nothing."""
    table = make_table(tmp_path, {"id": "INT", "v": "DECIMAL(10, 2)"}, ["id"], options=PRODUCT)
    rows = iter(factors("200", "1", "0.05", "0.05"))
    for count in cuts:
        write(table, list(itertools.islice(rows, count)))
        merge(table)
    assert by_key(table) == {1: {"id": 1, "v": Decimal("0.50")}}
    check_invariants(table)


def test_too_many_records_of_a_key_that_must_stay_apart(tmp_path, monkeypatch):
    monkeypatch.setattr("tablestore_engine.operation.write.write_by_bucket.MOST_LAYERS", 3)
    table = make_table(tmp_path, {"id": "INT", "v": "DECIMAL(10, 2)"}, ["id"], options=PRODUCT)
    write(table, factors("2", "2", "2", "2"))
    write(table, factors("2", "2", "2"))
    files = data_files(table)
    with pytest.raises(UserError, match=r"More than 3 records of one key .*: id=1\..*in parts.*DOUBLE"):
        write(table, factors("2", "2", "2", "2"))
    assert data_files(table) == files
    assert by_key(table)[1]["v"] == 128
    integers = make_table(tmp_path, {"id": "INT", "v": "DECIMAL(10, 0)"}, ["id"], options=PRODUCT, name="integers")
    write(integers, factors("2"))
    write(integers, factors("2", "2", "2", "2"))
    assert len(integers.live_files()) == 2
    assert by_key(integers)[1]["v"] == 32


@pytest.mark.parametrize(("order", "winner"), [("ascending", "late"), ("descending", "early")])
def test_sequence_field_decides_within_and_across_writes(tmp_path, order, winner):
    columns = {"id": "INT", "v": "STRING", "at": "INT"}
    options = {"sequence.field": "at", "sequence.field.sort-order": order}
    table = make_table(tmp_path, columns, ["id"], options=options)
    write(
        table,
        [{"id": 1, "v": "late", "at": 9}, {"id": 1, "v": "early", "at": 1}, {"id": 1, "v": "mid", "at": 5}],
    )
    assert by_key(table)[1]["v"] == winner
    write(table, [{"id": 1, "v": "other", "at": 5}])
    assert by_key(table)[1]["v"] == winner
    write(table, [{"id": 1, "v": "equal", "at": by_key(table)[1]["at"]}])
    assert by_key(table)[1]["v"] == "equal", "of equal sequences the later write wins"


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_a_null_sequence_never_wins(tmp_path, order):
    options = {"sequence.field": "at", "sequence.field.sort-order": order}
    table = make_table(tmp_path, {"id": "INT", "v": "STRING", "at": "INT"}, ["id"], options=options)
    write(table, [{"id": 1, "v": "null", "at": None}, {"id": 1, "v": "one", "at": 1}])
    assert by_key(table)[1]["v"] == "one"
    write(table, [{"id": 1, "v": "null", "at": None}])
    assert by_key(table)[1]["v"] == "one"


def test_a_delete_outlives_older_rows_that_come_late(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "at": "INT"}, ["id"], options={"sequence.field": "at"})
    write(table, [{"id": 1, "at": 9}], [DELETE])
    write(table, [{"id": 1, "at": 5}])
    assert read(table) == []
    write(table, [{"id": 1, "at": 10}])
    assert read(table) == [{"id": 1, "at": 10}]


def test_each_partition_and_bucket_has_its_directory(tmp_path):
    columns = {"day": "DATE", "region": "STRING", "id": "INT", "v": "STRING"}
    table = make_table(tmp_path, columns, ["id", "day", "region"], ["day", "region"], {"bucket": "2"})
    from datetime import date

    rows = [
        {"day": date(2024, 1, d), "region": r, "id": i, "v": f"{d}{r}{i}"}
        for d in (1, 2)
        for r in ("a/b", "ü", "")
        for i in range(10)
    ]
    write(table, rows[::-1])
    assert sorted(read(table), key=lambda r: r["v"]) == sorted(rows, key=lambda r: r["v"])
    folders = {os.path.relpath(os.path.dirname(p), table.path) for p in data_files(table)}
    assert "day=2024-01-01/region=a%2Fb/bucket-0" in folders
    assert len(folders) == 12
    check_invariants(table)


def test_the_same_key_in_two_partitions_is_two_rows(tmp_path):
    table = make_table(tmp_path, {"p": "INT", "id": "INT"}, ["p", "id"], ["p"])
    write(table, [{"p": 1, "id": 1}, {"p": 2, "id": 1}, {"p": 1, "id": 1}])
    assert len(read(table)) == 2


def test_append_tables_keep_order_and_duplicates(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "STRING"})
    rows = [{"id": 2, "v": None}, {"id": 1, "v": "a"}, {"id": 2, "v": None}]
    write(table, rows)
    write(table, rows)
    assert read(table) == rows + rows
    assert all(e.total_buckets == -1 for e in table.live_files())
    check_invariants(table)


def test_append_tables_with_null_partitions(tmp_path):
    table = make_table(tmp_path, {"p": "STRING", "v": "INT"}, [], ["p"])
    rows = [{"p": None, "v": 1}, {"p": "x", "v": 2}, {"p": None, "v": 3}, {"p": "", "v": 4}]
    write(table, rows)
    assert sorted(read(table), key=lambda r: r["v"]) == rows
    check_invariants(table)


def test_a_key_whose_order_differs_from_the_columns(tmp_path):
    table = make_table(tmp_path, {"v": "INT", "b": "STRING", "a": "INT"}, ["a", "b"], options={"bucket": "3"})
    rows = [{"a": i % 5, "b": f"{i % 7}", "v": i} for i in range(35)]
    write(table, rows)
    write(table, [{**r, "v": -r["v"]} for r in rows[::-1]])
    assert sorted(r["v"] for r in read(table)) == sorted(-r["v"] for r in rows)
    check_invariants(table)


def test_dictionaries_where_values_repeat(tmp_path):
    columns = {
        "id": "INT", "few": "STRING", "many": "STRING", "a": {"type": "ARRAY", "element": "INT"},
        "m": {"type": "MAP", "key": "STRING", "value": "INT"},
        "r": {"type": "ROW", "fields": [
            {"id": 10, "name": "x", "type": "INT"},
            {"id": 11, "name": "y", "type": {"type": "ARRAY", "element": "STRING"}},
        ]},
    }  # fmt: skip
    table = make_table(tmp_path, columns, ["id"], options={"bucket": "1"})
    rows = [
        {"id": n, "few": f"v{n % 5}", "many": f"value {n}", "a": [n % 3], "m": [("k", n % 3)],
         "r": {"x": n % 3, "y": ["s"]}}
        for n in range(5_000)
    ]  # fmt: skip
    write(table, rows)
    (entry,) = table.live_files()
    group = pq.ParquetFile(path_of(table, entry)).metadata.row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    plain = {c.path_in_schema for c in chunks if "RLE_DICTIONARY" not in c.encodings}
    assert plain == {"_KEY_id", "id", "many"}


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, [1]),
        ({"ignore-update-before": "true"}, [1, 3]),
        ({"ignore-delete": "true"}, [1, 2, 3]),
    ],
)
def test_without_a_key_retractions_that_are_ignored_take_nothing_away(tmp_path, options, left):
    table = make_table(tmp_path, {"id": "INT"}, options=options)
    write(table, [{"id": n} for n in (1, 2, 3)])
    write(table, [{"id": 2}, {"id": 3}], [3, 1])
    assert sorted(one["id"] for one in read(table)) == left


def test_without_a_key_changes_are_never_ignored(tmp_path):
    """They say what a statement does to rows that it has read."""
    table = make_table(tmp_path, {"id": "INT"}, options={"ignore-delete": "true"})
    write(table, [{"id": 1}])
    write(table, [{"id": 1}, {"id": 2}], [3, 0], job=replace(new_job(table), row_level=True))
    assert read(table) == [{"id": 2}]


def test_without_a_key_a_column_of_kinds_is_part_of_the_row(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "k": "STRING"}, options={"rowkind.field": "k"})
    with pytest.raises(RowKindError, match="'k', which says the kind of a row"):
        write(table, [{"id": 1, "k": "-D"}], [3])
    with pytest.raises(OptionError, match="'k', which says the kind of a row"):
        make_table(
            tmp_path, {"k": "STRING"}, options={"rowkind.field": "k", "merge-engine": "tablestore-count"}, name="t2"
        )


@pytest.mark.parametrize("reverse", [False, True])
def test_of_changes_a_row_replaces_the_deleted_one(keyed, reverse):
    """Rows that a statement computed have no order: one that is removed and added again is there."""
    changes = [(row(1, "old"), DELETE), (row(1, "new"), PUT)]
    given = changes[::-1] if reverse else changes
    job = replace(new_job(keyed), row_level=True)
    write(keyed, [one for one, _ in given], [kind for _, kind in given], job=job)
    assert read(keyed) == [row(1, "new")]
