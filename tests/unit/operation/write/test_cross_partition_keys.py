"""Where the keys of few rows are, of those that may be in any partition, and where the rows go."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest
from support.tables import make_table, write_routed

from tablestore_engine.operation.formats.parquet_file import PAGE_ROWS
from tablestore_engine.operation.pages import page_lookup
from tablestore_engine.operation.pages.page_lookup import PagedParquet
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.operation.write.cross_partition_keys import (
    LOCATION_COLUMN,
    MAX_ROWS,
    NOWHERE,
    are_few,
    files_with,
    locations_of,
    route,
    with_kinds,
)
from tablestore_engine.operation.write.cross_partition_keys import (
    records_of as read_records,
)
from tablestore_engine.schema.table.row_kind import DELETE_KIND
from tablestore_engine.schema.types.arrow import to_arrow_type

KINDS = {"dt": "STRING", "id": "INT", "v": "INT"}


def table_of(tmp_path, **options):
    return make_table(tmp_path, KINDS, ["id"], ["dt"], {"bucket": "-1", **options})


def scan(dt, bucket):
    return BucketScan((dt,), repr((dt, bucket)).encode(), f"dt={dt}", bucket, -1, ())


def rows_of(*rows):
    kinds = [("dt", pa.string()), ("id", pa.int32()), ("v", pa.int32())]
    return with_kinds(pa.table({n: pa.array([r[i] for r in rows], k) for i, (n, k) in enumerate(kinds)}))


def records_of(*records):
    """(id, location, sequence number, kind)"""
    names = [
        ("id", pa.int32()),
        (LOCATION_COLUMN, pa.int32()),
        ("_SEQUENCE_NUMBER", pa.int64()),
        ("_VALUE_KIND", pa.int8()),
    ]
    return pa.table({n: pa.array([r[i] for r in records], k) for i, (n, k) in enumerate(names)})


def test_the_last_record_of_a_key_says_where_it_is(tmp_path):
    schema = table_of(tmp_path).schema
    rows = rows_of(("x", 3, 0), ("x", 1, 0), ("x", 2, 0), ("x", 3, 0), ("x", 4, 0))
    records = records_of(
        (1, 0, 1, 0), (1, 0, 9, DELETE_KIND), (1, 2, 9, 0),  # moved
        (2, 1, 5, DELETE_KIND), (2, 1, 4, 0),  # removed
        (3, 1, 1, 0), (3, 0, 2, 2), (3, 1, 3, 0),  # in two: the first counts
    )  # fmt: skip
    assert locations_of(rows, records, schema).tolist() == [0, 2, NOWHERE, 0, NOWHERE]
    assert locations_of(rows, records.slice(0, 0), schema).tolist() == [NOWHERE] * 5


@pytest.mark.parametrize(
    ("options", "is_live"),
    [
        ({"merge-engine": "partial-update", "ignore-delete": "true"}, True),
        ({"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}, False),
    ],
)
def test_a_delete_ends_a_key_unless_rows_fold(tmp_path, options, is_live):
    schema = table_of(tmp_path, **options).schema
    found = locations_of(rows_of(("x", 1, 0)), records_of((1, 0, 1, 0), (1, 0, 2, DELETE_KIND)), schema)
    assert found.tolist() == [0 if is_live else NOWHERE]


def test_rows_stay_leave_and_come(tmp_path):
    schema = table_of(tmp_path, **{"dynamic-bucket.target-row-num": "2"}).schema
    buckets = [scan("a", 3), scan(None, 0)]
    rows = rows_of(("a", 1, 1), ("b", 2, 2), (None, 3, 3), ("b", 4, 4), ("b", 5, 5))
    rows = rows.set_column(3, "__tablestore_row_kind", pa.array([0, 0, 0, 0, DELETE_KIND], pa.int8()))
    routed = route(
        rows, locations_of(rows, records_of((1, 0, 1, 0), (2, 0, 1, 0), (3, 1, 1, 0)), schema), buckets, schema
    )
    found = {(r["dt"], r["id"], r["__tablestore_row_kind"], r["__tablestore_bucket"]) for r in routed.to_pylist()}
    assert found == {
        ("a", 1, 0, 3), ("a", 2, DELETE_KIND, 3), ("b", 2, 0, 0), (None, 3, 0, 0), ("b", 4, 0, 0)
    }  # fmt: skip


def test_first_rows_stay_and_new_keys_of_a_fold_stay_together(tmp_path):
    buckets = [scan("a", 3)]
    rows = rows_of(("z", 1, 1), ("b", 2, 2), ("c", 2, 3))
    schema = table_of(tmp_path / "fold", **{"merge-engine": "partial-update"}).schema
    routed = route(rows, locations_of(rows, records_of((1, 0, 1, 0)), schema), buckets, schema).to_pylist()
    assert [(r["dt"], r["id"], r["v"], r["__tablestore_bucket"]) for r in routed] == [
        ("a", 1, 1, 3),
        ("b", 2, 2, 0),
        ("b", 2, 3, 0),
    ]
    schema = table_of(tmp_path / "first", **{"merge-engine": "first-row"}).schema
    routed = route(rows.slice(0, 2), locations_of(rows.slice(0, 2), records_of((1, 0, 1, 0)), schema), buckets, schema)
    assert routed.column("id").to_pylist() == [2]


def test_no_files_are_looked_at_for_keys_that_they_cannot_hold(tmp_path):
    from support.tables import write

    table = make_table(tmp_path, {"dt": "STRING", "id": "STRING"}, ["dt", "id"], ["dt"], {"bucket": "1"})
    write(table, [{"dt": dt, "id": dt + one} for dt in "abc" for one in "05"])
    buckets = table.scan().buckets

    def found(*ids):
        keys = pa.table({"id": pa.array(ids, pa.string())})
        return sorted(buckets[number].partition[0] for number, _, _ in files_with(buckets, table.schema, keys))

    assert found("b3") == ["b"]
    assert found("a0", "c5", "b6", None) == ["a", "c"]
    assert found("a6", "b", "d") == []
    assert found(*map(str, range(20_000))) == ["a", "b", "c"], "of very many keys not each is compared"
    assert are_few(files_with(buckets, table.schema, pa.table({"id": ["b3"]})), table.schema, 1)
    assert not are_few([(0, buckets[0], buckets[0].files[0])] * (MAX_ROWS // 2 + 1), table.schema, 1)


@pytest.mark.parametrize(
    ("kind", "form", "few"),
    [("INT", "parquet", True), ("INT", "orc", False), ("DOUBLE", "parquet", False)],
)
def test_few_keys_of_large_files_are_looked_up_by_pages(tmp_path, kind, form, few):
    schema = make_table(tmp_path, {"dt": "STRING", "id": kind}, ["id"], ["dt"], {"bucket": "-1"}).schema
    files = [(0, None, SimpleNamespace(format=form, row_count=MAX_ROWS))] * 2
    assert are_few(files, schema, 100) is few
    assert not are_few(files, schema, MAX_ROWS)


@pytest.mark.parametrize("kind", ["INT", "STRING", "DOUBLE"])
def test_only_pages_that_may_hold_a_key_are_read(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(page_lookup, "WHOLE_BYTES", 0)
    read, rows, make = PagedParquet.read, [], {"INT": int, "STRING": lambda i: f"k{i:06}", "DOUBLE": float}[kind]
    counted = lambda file, portion, names: rows.append(sum(len(at) for _, at in portion)) or read(file, portion, names)  # noqa: E731
    table = make_table(tmp_path, {"dt": "STRING", "id": kind, "v": "INT"}, ["id"], ["dt"], {"bucket": "-1"})
    many = 5 * PAGE_ROWS
    write_routed(table, [{"dt": "ab"[i % 2], "id": make(i), "v": i} for i in range(2 * many)])
    monkeypatch.setattr(PagedParquet, "read", counted)
    ids = [make(i) for i in (0, 7, many, 3 * many)]
    sought = pa.table({"id": pa.array(ids, to_arrow_type(table.schema.field("id").type))})
    buckets = table.scan().buckets
    found = read_records(table.state, files_with(buckets, table.schema, sought), sought)
    located = {(one["id"], buckets[one[LOCATION_COLUMN]].partition[0]) for one in found.to_pylist()}
    assert located == {(ids[0], "a"), (ids[1], "b"), (ids[2], "a")}
    assert sum(rows) < 5 * PAGE_ROWS
    assert bool(rows) is (kind != "DOUBLE")
