"""The rows of files without superseded ones are the merged rows, whatever runs, kinds and columns the files have."""

from __future__ import annotations

import random

import pytest
from support.soak import seeds
from support.tables import DELETE, PUT, compact, compact_newest, make_table, rows, write

from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.read import superseded_rows as module
from tablestore_engine.operation.read.superseded_rows import superseded_rows
from tablestore_engine.schema.table.schema_changes import AddColumn, RenameColumn
from tablestore_engine.schema.types.system_columns import RECORD_COLUMNS
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"p": "STRING", "id": "INT", "name": "STRING", "v": "INT"}


def superseded(table):
    merging = [(bucket, section) for bucket, section in table.scan().sections if section.needs_merge]
    return superseded_rows(table.state, table.schema, merging) if merging else {}


def left(table):
    """The rows of files that are not superseded, and no deletes of files that merge with none."""
    found = superseded(table)
    names = tuple(table.schema.field_names)
    plan = table.scan()
    for bucket in plan.buckets:
        for file in bucket.files:
            stored = StoredFile(
                bucket.path_of(table.state.paths, file), file.file_size, table.state.schemas.load(file.schema_id)
            )
            columns = FileColumns(names, RECORD_COLUMNS)
            for batch in read_batches(table.state.io, stored, table.schema, columns, deleted=found.get(file.file_name)):
                for row in batch.to_pylist():
                    if row["_VALUE_KIND"] != DELETE:
                        yield {name: row[name] for name in names}
                    elif file.file_name in found:
                        raise AssertionError(f"a delete of a merging file is left: {row}")


def some_rows(chance, count, value):
    made = [
        {"p": chance.choice("ab"), "id": chance.randrange(30), "name": chance.choice("xy"), value: chance.randrange(9)}
        for _ in range(count)
    ]
    return list({(row["p"], row["id"], row["name"]): row for row in made}.values())


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_rows_that_are_left_are_the_merged_rows(tmp_path, seed):
    chance = random.Random(seed)
    table = make_table(tmp_path, COLUMNS, ["p", "id", "name"], ["p"], {"bucket": "2", "write-only": "true"})
    for step in range(8):
        changed = some_rows(chance, chance.choice([3, 40]), "v" if step < 4 else "u")
        write(table, changed, [chance.choice([PUT, PUT, DELETE]) for _ in changed])
        if step == 3:
            table = table.alter(AddColumn(("w",), parse_type("INT")), RenameColumn(("v",), "u"))
        if step in (2, 5):
            compact_newest(table, chance.choice([2, 3]))
        expected = sorted(table.to_arrow().to_pylist(), key=str)
        assert sorted(left(table), key=str) == expected
    compact(table)
    assert superseded(table) == {}


def test_files_are_read_once(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={"bucket": "1", "write-only": "true"})
    write(table, rows(range(10)))
    write(table, rows([3, 5], v=1))
    found = superseded(table)
    assert [sorted(one) for one in found.values()] == [[3, 5]]
    monkeypatch.setattr(module, "read_batches", None)
    assert superseded(table) == found, "files are read again"


@pytest.mark.parametrize(
    "options",
    [
        {"sequence.field": "v"},
        {"merge-engine": "partial-update"},
        {"merge-engine": "first-row"},
        {"file.format": "orc"},
    ],
)
def test_other_tables_are_merged_otherwise(tmp_path, options):
    options = {"bucket": "1", "write-only": "true", **options}
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    write(table, rows(range(10)))
    write(table, rows([3, 5], v=1))
    assert superseded(table) is None


def test_floats_and_too_many_rows_are_merged_otherwise(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"id": "DOUBLE", "v": "INT"}, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1.0, "v": 1}])
    write(table, [{"id": 1.0, "v": 2}])
    assert superseded(table) is None
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options={"bucket": "1"}, name="u")
    write(table, rows(range(10)))
    write(table, rows([3, 5], v=1))
    monkeypatch.setattr(module, "MOST_NEWER_ROWS", 1)
    assert superseded(table) is None
    monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_ROWS", 11)
    assert superseded(table) is None
