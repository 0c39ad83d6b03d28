"""Rows of keys are the rows that a read of all rows has of them, whatever runs, formats and schemas the files have."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from support.tables import DELETE, PUT, arrow_rows, compact, make_table, write

from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.read.arrow_read import read_rows
from tablestore_engine.schema.table.schema_changes import AddColumn, RenameColumn, RetypeColumn
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"p": "STRING", "id": "INT", "name": "STRING", "v": "INT"}


def all_rows(table, keys=None):
    names = tuple(table.schema.field_names)
    found = [r for b in read_rows(table.state, table.scan(), names, keys) for r in b.to_pylist()]
    return sorted(found, key=str)


def some_rows(chance, count):
    rows = [
        {"p": chance.choice("ab"), "id": chance.randrange(40), "name": chance.choice("xyz"), "v": chance.randrange(9)}
        for _ in range(count)
    ]
    return list({(r["p"], r["id"], r["name"]): r for r in rows}.values())


def check(table, chance):
    everything = all_rows(table)
    for names in (["p", "id", "name"], ["id", "name"], ["name"], ["id", "p"]):
        chosen = [r for r in some_rows(chance, 12) if chance.random() < 0.8] + everything[:: chance.randrange(3, 9)]
        keys = RowKeys(arrow_rows(table.schema, chosen).select(names))
        sought = {tuple(r[n] for n in names) for r in chosen}
        assert all_rows(table, keys) == [r for r in everything if tuple(r[n] for n in names) in sought], names


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_rows_of_keys(tmp_path, file_format, engine):
    chance = random.Random(3)
    removes = engine == "deduplicate"
    options = {"bucket": "3", "file.format": file_format, "merge-engine": engine, "write-only": "true"}
    table = make_table(tmp_path, COLUMNS, ["p", "id", "name"], ["p"], options)
    for step in range(5):
        rows = some_rows(chance, 60)
        write(table, rows, [DELETE if removes and chance.random() < 0.2 else PUT for _ in rows])
        if step == 2:
            compact(table)
    check(table, chance)


def test_files_of_older_schemas(tmp_path):
    chance = random.Random(4)
    table = make_table(tmp_path, COLUMNS, ["p", "id", "name"], ["p"], {"bucket": "2", "write-only": "true"})
    write(table, some_rows(chance, 60))
    table = table.alter(
        AddColumn(("more",), parse_type("INT")), RenameColumn(("v",), "w"), RetypeColumn(("w",), parse_type("BIGINT"))
    )
    assert all_rows(table)[0]["w"] is not None
    check(table, chance)


def test_a_lookup_without_keys_reads_no_file(tmp_path, monkeypatch):
    table = make_table(tmp_path, COLUMNS, ["p", "id", "name"], ["p"], {"bucket": "2"})
    write(table, some_rows(random.Random(5), 9))
    monkeypatch.setattr(type(table.state.io), "open_input", lambda self, path: pytest.fail(f"{path} was read"))
    none = RowKeys(pa.table({"id": pa.array([], pa.int32())}))
    assert all_rows(table, none) == []
