"""Point queries skip files by their indexes, and never a file with a row that they ask for."""

from __future__ import annotations

import os
from datetime import date, datetime
from pathlib import Path
from random import Random

import pytest
from support.files import data_files, files_read
from support.invariants import check_invariants
from support.tables import compact, make_table, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CorruptMetadataError, OptionError, StorageError
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNull, Or
from tablestore_engine.schema.table.schema_changes import AddColumn, SetOption
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {
    "id": "BIGINT", "name": "STRING", "day": "DATE", "at": "TIMESTAMP(3)", "small": "TINYINT", "ok": "BOOLEAN",
    "attributes": {"type": "MAP", "key": "STRING NOT NULL", "value": "STRING"},
}  # fmt: skip
IN_FILES = {"file-index.in-manifest-threshold": "0"}
IN_MANIFESTS = {"file-index.in-manifest-threshold": "10 mb"}
BLOOM = {
    "file-index.bloom-filter.columns": "id,name,day,at,small,attributes[k]",
    **{f"file-index.bloom-filter.{one}.items": "100" for one in ("id", "name", "day", "at", "small", "attributes")},
    **{f"file-index.bloom-filter.{one}.fpp": "0.001" for one in ("id", "name", "day", "at", "small", "attributes")},
}
BITMAP = {"file-index.bitmap.columns": "id,name,day,at,small,ok,attributes[k]"}


def row(n):
    """Values that are spread, so that bounds say little."""
    m = n * 7919 % 1000
    return {
        "id": m, "name": None if n % 10 == 9 else f"name {m}", "day": date.fromordinal(730_000 + m),
        "at": datetime(2024, 1, 1, 0, m // 60, m % 60, 5000), "small": m % 100, "ok": n % 2 == 0,
        "attributes": {"k": f"v{m}"},
    }  # fmt: skip


def five_files(tmp_path, options, key=()):
    table = make_table(tmp_path, COLUMNS, key, options={"write-only": "true", **options})
    for part in range(5):
        write(table, [row(n) for n in range(part, 200, 5)])
    return table


@pytest.mark.parametrize("where", [IN_FILES, IN_MANIFESTS], ids=["files", "manifests"])
@pytest.mark.parametrize("kind", [BLOOM, BITMAP], ids=["bloom", "bitmap"])
def test_a_point_query_plans_one_file_of_five(tmp_path, kind, where):
    table = five_files(tmp_path, {**kind, **where})
    side_files = [file.index_file for file in table.scan().files]
    assert all(side_files) if where is IN_FILES else not any(side_files)
    one = row(103)
    for column in ("id", "name", "day", "at"):
        assert files_read(table, Compare(column, "=", one[column])) == 1, column
        assert files_read(table, In(column, (one[column], row(104)[column]))) in (1, 2), column
    assert files_read(table, Compare("name", "=", "name 5000")) == 0
    assert files_read(table, Compare("id", "=", 10**12)) == 0
    assert files_read(table, Compare("id", ">", 5)) == 5
    both = And((Compare("id", "=", one["id"]), Compare("name", "=", row(104)["name"])))
    either = Or((Compare("id", "=", one["id"]), Compare("name", "=", row(104)["name"])))
    assert (files_read(table, both), files_read(table, either)) == (0, 2)
    check_invariants(table)


def altered(tmp_path, changes, name="t"):
    return Catalog(tmp_path).alter_table("default", name, changes)


def test_bitmaps_combine_columns_by_rows(tmp_path):
    table = make_table(tmp_path, {"a": "INT", "b": "INT"}, options={"file-index.bitmap.columns": "a,b"})
    write(table, [{"a": 1, "b": 1}, {"a": 5, "b": 5}, {"a": None, "b": 9}])
    assert files_read(table, And((Compare("a", "=", 1), Compare("b", "=", 1)))) == 1
    assert files_read(table, And((Compare("a", "=", 1), Compare("b", "=", 5)))) == 0, (
        "both are there, in different rows"
    )
    assert files_read(table, And((IsNull("a"), Compare("b", "=", 9)))) == 1
    assert files_read(table, And((IsNull("a"), Compare("b", "=", 5)))) == 0


@pytest.mark.cover
@pytest.mark.parametrize("kind", [BLOOM, BITMAP], ids=["bloom", "bitmap"])
@pytest.mark.parametrize("key", [(), ("id",)], ids=["append", "keyed"])
def test_no_row_is_lost(tmp_path, kind, key):
    """Random predicates over random rows, against a scan of all rows."""
    rng = Random(f"{kind}{key}")
    table = make_table(tmp_path, COLUMNS, key, options={"write-only": "true", **kind, **IN_FILES})
    for _ in range(4):
        write(table, [{**row(rng.randrange(60)), "id": n} for n in rng.sample(range(60), 15)])
    rows = table.to_arrow().to_pylist()
    for _ in range(150):
        predicate, holds = random_predicate(rng)
        expected = [one for one in rows if holds(one)]
        read = [one for one in table.to_arrow(predicate=predicate).to_pylist() if holds(one)]
        assert sorted(map(repr, read)) == sorted(map(repr, expected)), predicate


def random_predicate(rng, depth=2):
    if depth and rng.random() < 0.6:
        parts = [random_predicate(rng, depth - 1) for _ in range(rng.randint(2, 3))]
        every = rng.random() < 0.5
        kind, fold = (And, all) if every else (Or, any)
        return kind(tuple(p for p, _ in parts)), lambda one: fold(h(one) for _, h in parts)
    column = rng.choice(["id", "name", "day", "at", "small", "ok"])
    values = tuple(row(rng.randrange(80))[column] for _ in range(rng.randint(1, 3)))
    values = tuple(v for v in values if v is not None) or (row(0)[column],)
    if len(values) == 1:
        return Compare(column, "=", values[0]), lambda one: one[column] == values[0]
    return In(column, values), lambda one: one[column] in values


def test_a_newer_row_hides_an_older_one_of_another_file(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "STRING"}, ["id"], options={"file-index.bitmap.columns": "v,id"})
    write(table, [{"id": 1, "v": "a"}, {"id": 8, "v": "a"}, {"id": 9, "v": "x"}])
    write(table, [{"id": 1, "v": "c"}])
    assert [one["v"] for one in table.to_arrow(predicate=Compare("v", "=", "a")).to_pylist() if one["id"] == 1] == ["c"]
    assert files_read(table, Compare("v", "=", "b")) == 0, "no file has it, so the section is left out"
    assert files_read(table, Compare("id", "=", 5)) == 0, "a file without a key cannot hide a row of it"


def test_compactions_write_indexes_too(tmp_path):
    table = five_files(tmp_path, {**BITMAP, **IN_FILES}, ("id",))
    compact(table, full=True)
    (file,) = table.scan().files
    assert file.index_file == f"{file.file_name}.index"
    assert os.path.exists(f"{table.path}/bucket-0/{file.index_file}")
    assert files_read(table, Compare("name", "=", "name 77777")) == 0
    table.expire_snapshots(Retention(1, 1, 0, 10), 10**15)
    assert {os.path.basename(p) for p in data_files(table)} == {file.file_name, file.index_file}


def test_a_column_of_a_later_schema(tmp_path):
    table = make_table(tmp_path, {"a": "INT"}, options={"file-index.bitmap.columns": "a"})
    write(table, [{"a": 1}, {"a": 9}])
    changed = altered(tmp_path, [AddColumn("b", parse_type("INT")), SetOption("file-index.bitmap.columns", "a,b")])
    write(changed, [{"a": 5, "b": 2}, {"a": 2, "b": 6}])
    assert files_read(changed, Compare("b", "=", 4)) == 0
    assert files_read(changed, Compare("a", "=", 5)) == 1
    assert files_read(changed, Compare("b", "=", 2)) == 1


def test_indexes_that_are_not_read(tmp_path):
    table = five_files(tmp_path, {**BITMAP, "file-index.read.enabled": "false"})
    assert files_read(table, Compare("name", "=", "name 500000")) == 5


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (os.remove, StorageError),
        (lambda path: os.truncate(path, 0), CorruptMetadataError),
        (lambda path: os.truncate(path, 60), CorruptMetadataError),
        (lambda path: Path(path).write_bytes(bytes(500)), CorruptMetadataError),
    ],
    ids=["missing", "empty", "cut", "zeroed"],
)
def test_a_damaged_index_is_named(tmp_path, damage, error):
    table = five_files(tmp_path, {**BITMAP, **IN_FILES})
    name = table.scan().files[0].index_file
    damage(f"{table.path}/bucket-0/{name}")
    with pytest.raises(error, match=name):
        table.scan(predicate=Compare("id", "=", 5))
    assert len(table.to_arrow()) == 200, "other queries do not need it"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file-index.bitmap.columns": "nam"}, "'nam', which is not a column. Did you mean 'name'"),
        ({"file-index.bloom-filter.columns": "ok"}, "type BOOLEAN"),
        ({"file-index.bitmap.columns": "attributes"}, r"name these: 'attributes\[key\]'"),
        ({"file-index.bitmap.columns": "name[k]"}, "no map"),
        ({"file-index.bloom-filter.columns": "id", "file-index.bloom-filter.name.fpp": "0.1"}, "does not name"),
        ({"file-index.bloom-filter.columns": "id", "file-index.bloom-filter.id.fpp": "1.5"}, "between 0 and 1"),
        ({"file-index.bloom-filter.columns": "id", "file-index.bloom-filter.id.items": "2000000000"}, "too large"),
        ({"file-index.bitmap.columns": "id", "file-index.bitmap.id.version": "3"}, "1 or 2"),
        ({"file-index.blom-filter.columns": "id"}, "Did you mean 'file-index.bloom-filter.columns'"),
    ],
)
def test_options_that_make_no_index_are_refused(tmp_path, options, message):
    with pytest.raises(OptionError, match=message):
        make_table(tmp_path, COLUMNS, options=options)
    make_table(tmp_path, COLUMNS, name="other")
    with pytest.raises(OptionError, match=message):
        altered(tmp_path, [SetOption(key, value) for key, value in options.items()], "other")
