"""A table whose options mean something that this engine does not do is refused before a file of it is read."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from support.files import path_of
from support.tables import compact, identity, make_table, new_job, read, write, write_files

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import OptionError
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import AtomicType

COLUMNS = [("id", AtomicType("BIGINT"), None), ("v", AtomicType("INT"), None)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("merge-engine", "of-tomorrow"),
        ("data-evolution.enabled", "true"),
        ("type", "object-table"),
        ("scan.snapshot-id", "1"),
        ("scan.mode", "compacted-full"),
        ("scan.primary-branch", "b"),
        ("fields.v.map.storage-layout", "shared-shredding"),
        ("postpone.merge-on-read", "true"),
    ],
)
def test_options_that_change_answers(tmp_path, key, value):
    schema = create_schema(COLUMNS, ["id"], options={"bucket": "1"})
    catalog = Catalog(tmp_path)
    catalog.create_table("default", "t", replace(schema, options={**schema.options, key: value}))
    table = catalog.load_table("default", "t")
    for verb in (table.scan, table.to_arrow):
        with pytest.raises(OptionError, match=f"'{key}' = '{value}' is not supported"):
            verb()


def test_options_that_do_not(tmp_path):
    schema = create_schema(COLUMNS, ["id"], options={"bucket": "1"})
    catalog = Catalog(tmp_path)
    harmless = {
        "snapshot.expire.execution-mode": "async", "of-tomorrow": "1", "changelog-producer": "input", "scan.mode": "latest",  # noqa: E501
        "type": "materialized-table", "data-file.thin-mode": "true", "fields.v.map.storage-layout": "default",
        "upsert-key": "id", "pk-bitmap.index.columns": "v",
    }  # fmt: skip
    catalog.create_table("default", "t", replace(schema, options={**schema.options, **harmless}))
    assert catalog.load_table("default", "t").to_arrow().num_rows == 0


def _with(table, **options):
    """The table as another tool's ALTER TABLE leaves it."""
    schema = replace(table.schema, id=table.schema.id + 1, options={**table.schema.options, **options})
    table.io.create(table.paths.schema(schema.id), schema.to_json().encode())
    return Catalog(table.path.rsplit("/", 2)[0]).load_table(*table.identifier)


@pytest.mark.parametrize("option", ["upsert-key", "pk-bitmap.index.columns"])
def test_side_files_of_writers_are_removed(tmp_path, option):
    table = make_table(tmp_path, {"id": "BIGINT", "v": "INT"}, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1, "v": 1}])
    theirs = _with(table, **{option: "v"})
    assert read(theirs) == [{"id": 1, "v": 1}]
    with pytest.raises(OptionError, match=f"'{option}' = 'v' is not supported"):
        write(theirs, [{"id": 2, "v": 2}])


def test_files_of_another_format(tmp_path):
    """The option may have been another one when they were written."""
    table = make_table(tmp_path, {"id": "BIGINT", "v": "INT"}, ["id"], options={"bucket": "1", "write-only": "true"})
    write(table, [{"id": 1, "v": 1}])
    job = new_job(table)
    result = write_files(job, [{"id": 1, "v": 2}])
    (entry,) = result.entries
    other = replace(entry, file=replace(entry.file, file_name=entry.file.file_name.replace(".parquet", ".zstd.lance")))
    os.rename(path_of(table, entry), path_of(table, other))
    Committer(table.state).commit(Change("APPEND", (other,)), identity())
    for verb in (lambda: read(table), lambda: compact(table)):
        with pytest.raises(OptionError, match=r"'file\.format' = 'lance' is not supported.*\.lance has this format"):
            verb()
    found = table.statistics()
    assert (found.row_count, found.row_count_exact) == (2, False)


def test_stored_deletes_that_shall_be_ignored(tmp_path):
    table = make_table(tmp_path, {"id": "BIGINT", "v": "INT"}, ["id"], options={"bucket": "1", "write-only": "true"})
    write(table, [{"id": 1, "v": 1}])
    theirs = _with(table, **{"ignore-delete": "true"})
    assert read(theirs) == [{"id": 1, "v": 1}]
    write(table, [{"id": 1}], kinds=[3])
    assert read(table) == []
    with pytest.raises(OptionError, match="'ignore-delete' = 'true' is not supported for deletes that are stored"):
        read(theirs)


def test_rows_that_wait_for_their_bucket(tmp_path):
    table = make_table(tmp_path, {"id": "BIGINT", "v": "INT"}, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1, "v": 1}])
    job = new_job(table)
    entries = write_files(job, [{"id": 2, "v": 2}]).entries
    waiting = [replace(e, bucket=-2) for e in entries]
    Committer(table.state).commit(Change("APPEND", tuple(waiting)), identity())
    assert read(_with(table, bucket="-2")) == [{"id": 1, "v": 1}]


def test_row_ids_are_never_given_twice(tmp_path):
    table = make_table(tmp_path, {"id": "BIGINT", "v": "INT"})
    first = write(table, [{"id": 1, "v": 1}])
    text = table.io.read(table.paths.snapshot(first.id)).decode()
    table.io.write(table.paths.snapshot(first.id), text.replace('"id": 1,', '"id": 1, "nextRowId": 17,', 1).encode())
    Committer(table.state).commit(Change("OVERWRITE", replaces=lambda entry: True), identity())
    assert table.latest_snapshot().next_row_id == 17
