"""CREATE OR REPLACE: another table under the same name and history, by one snapshot."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from support.invariants import check_invariants
from support.tables import arrow_rows, compact, identity, make_table, new_job, read, schema_of, write

from tablestore_engine.errors import ConflictError
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.replace_table import (
    next_schema,
    replace_all,
    schema_publisher,
    until_committed,
)
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

COLUMNS = {"id": "INT", "v": "STRING"}


@pytest.fixture
def table(catalog):
    made = make_table(catalog, COLUMNS, ["id"])
    write(made, [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    return made


def load(catalog):
    return catalog.load_table("default", "t")


def replace_with(table, wanted, rows, *, publish=True):
    """A replacement that dies before its snapshot when `publish` is not set."""
    schema = next_schema(table.schema, wanted, table.schemas.list_ids()[-1])
    job = WriteJob(table.write_target(schema), schema.core_options.bucket, 1_000)
    entries = write_table(job, arrow_rows(schema, rows)).entries
    publisher = schema_publisher(table.schemas, table.schema, schema)
    if not publish:
        publisher()
        return None
    change = replace_all(table.schema, schema, tuple(entries))
    return Committer(table.state.with_schema(schema)).commit(change, identity(), new_schema=publisher)


def test_the_same_schema_stays_the_same(table):
    assert next_schema(table.schema, schema_of(COLUMNS, ["id"]), 7) is table.schema
    assert schema_publisher(table.schemas, table.schema, table.schema) is None


@pytest.mark.parametrize(
    "wanted",
    [
        schema_of(COLUMNS, ["id"], comment="another"),
        schema_of(COLUMNS, ["id"], options={"bucket": "3"}),
        schema_of(COLUMNS),
        schema_of({**COLUMNS, "v": "INT"}, ["id"]),
    ],
    ids=["comment", "options", "key", "type"],
)
def test_whatever_differs_makes_another_schema(table, wanted):
    assert next_schema(table.schema, wanted, 7).id == 8


def test_the_next_schema_has_new_ids(table):
    nested = {"type": "ARRAY", "element": "INT"}
    schema = next_schema(table.schema, schema_of({"v": "INT", "w": nested}), 4)
    assert (schema.id, schema.replaces) == (5, "0")
    used = {f.id for f in table.schema.fields}
    assert not used & {f.id for f in schema.fields}
    assert schema.highest_field_id >= max(f.id for f in schema.fields) > table.schema.highest_field_id


def test_other_columns_and_rows(catalog, table):
    replace_with(table, schema_of({"v": "INT", "x": "DATE"}, ["v"]), [{"v": 7, "x": None}])
    now = load(catalog)
    assert read(now) == [{"v": 7, "x": None}]
    check_invariants(now)
    assert len(now.snapshots()) == 2
    past = now.snapshot(1)
    assert now.schema_of(past) == table.schema


@pytest.mark.parametrize(
    ("columns", "keys", "partition"),
    [
        ({"p": "STRING", "id": "INT"}, [], ["p"]),
        ({"p": "DATE", "q": "INT", "id": "INT"}, ["p", "q", "id"], ["p", "q"]),
        ({"v": "STRING"}, [], []),
    ],
)
def test_there_and_back_between_partitionings(catalog, table, columns, keys, partition):
    from datetime import date

    values = {"p": "x" if columns.get("p") == "STRING" else date(2024, 1, 1), "q": 1, "id": 5, "v": "z"}
    row = {name: values[name] for name in columns}
    replace_with(table, schema_of(columns, keys, partition), [row])
    partitioned = load(catalog)
    assert read(partitioned) == [row]
    assert partitioned.statistics().row_count == 1
    assert partitioned.latest_snapshot().total_record_count == 1
    write(partitioned, [row] if keys else [])
    compact(partitioned)
    assert read(partitioned) == [row]
    check_invariants(partitioned)
    replace_with(partitioned, schema_of(COLUMNS, ["id"]), [{"id": 3, "v": "c"}])
    back = load(catalog)
    assert read(back) == [{"id": 3, "v": "c"}]
    write(back, [{"id": 4, "v": "d"}])
    assert len(read(back)) == 2
    check_invariants(back)
    first = back.snapshot(1)
    assert {f.row_count for f in back.scan(first, schema=back.schema_of(first)).files} == {2}


@pytest.mark.parametrize(
    ("columns", "keys", "starts_anew"),
    [
        (COLUMNS, ["id"], False),
        ({"v": "STRING", "id": "INT"}, ["id"], False),
        (COLUMNS, ["v"], True),
        (COLUMNS, ["id", "v"], True),
        (COLUMNS, [], True),
        ({"id": "BIGINT", "v": "STRING"}, ["id"], True),
    ],
)
def test_manifests_name_no_file_of_another_key(catalog, table, columns, keys, starts_anew):
    """Pypaimon reads the bounds of the keys of all of them by the types of the newest key."""
    replace_with(table, schema_of(columns, keys), [{"id": 9, "v": "z"}])
    now = load(catalog)
    assert read(now) == [{name: {"id": 9, "v": "z"}[name] for name in columns}]
    latest = now.latest_snapshot()
    lists = (latest.base_manifest_list, latest.delta_manifest_list)
    named = [e for one in lists for meta in now.manifests.read_list(one) for e in entries_of(now, meta)]
    assert len(named) == (1 if starts_anew else 3)
    assert (latest.total_record_count, latest.delta_record_count) == (1, -1)
    check_invariants(now)
    now.roll_back(1)
    assert read(load(catalog)) == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    check_invariants(load(catalog))


def entries_of(table, meta):
    return table.manifests.read_manifest(meta.file_name)


@pytest.mark.parametrize("columns", [COLUMNS, {"other": "INT", "id": "BIGINT"}])
def test_by_an_empty_one(catalog, table, columns):
    replace_empty(table.state, schema_of(columns, ["id"]))
    now = load(catalog)
    assert read(now) == []
    assert now.schema.field_names == tuple(columns)
    assert now.statistics().row_count == 0
    assert len(read(now, snapshot=now.snapshot(1))) == 2 if columns is COLUMNS else True


def test_a_table_without_snapshots_by_an_empty_one(catalog):
    table = make_table(catalog, COLUMNS)
    replace_empty(table.state, schema_of({"x": "INT"}))
    assert load(catalog).schema.field_names == ("x",)
    write(load(catalog), [{"x": 1}])
    assert read(load(catalog)) == [{"x": 1}]


def test_a_replacement_that_died_leaves_the_old_table(catalog, table):
    replace_with(table, schema_of({"x": "INT"}), [{"x": 1}], publish=False)
    now = load(catalog)
    assert now.schema == table.schema
    assert len(read(now)) == 2
    write(now, [{"id": 3, "v": "c"}])
    assert len(read(load(catalog))) == 3
    # Neither a later column nor a later replacement trips over the schema that it left.
    catalog.alter_table("default", "t", [AddColumn("extra", parse_type("INT"))])
    now = load(catalog)
    assert now.schema.field_names == ("id", "v", "extra")
    write(now, [{"id": 4, "v": "d", "extra": 4}])
    assert len(read(load(catalog))) == 4
    replace_with(load(catalog), schema_of({"y": "INT"}), [{"y": 1}])
    assert read(load(catalog)) == [{"y": 1}]


def test_a_column_can_be_added_to_what_replaced(catalog, table):
    replace_with(table, schema_of({"x": "INT"}), [{"x": 1}])
    catalog.alter_table("default", "t", [AddColumn("y", parse_type("INT"))])
    assert read(load(catalog)) == [{"x": 1, "y": None}]


def test_writers_of_the_old_table_conflict(catalog, table):
    job = new_job(table)
    replace_with(table, schema_of({"x": "INT"}), [{"x": 1}])
    with pytest.raises(ConflictError, match="replaced"):
        write(table, [{"id": 9, "v": "late"}], job=job)
    assert read(load(catalog)) == [{"x": 1}]
    with pytest.raises(ConflictError):
        Committer(table.state).commit(Change("OVERWRITE", replaces=lambda entry: True), identity())
    catalog.alter_table("default", "t", [AddColumn("y", parse_type("INT"))])
    write(load(catalog), [{"x": 2, "y": 2}])
    with pytest.raises(ConflictError, match="replaced"):
        write(table, [{"id": 9, "v": "late"}], job=new_job(table, sequence=1, into_empty=True))


def test_two_replacements_at_once(catalog, table):
    replace_with(table, schema_of({"x": "INT"}), [{"x": 1}])
    with pytest.raises(ConflictError):
        replace_with(table, schema_of({"y": "INT"}), [{"y": 1}])
    assert read(load(catalog)) == [{"x": 1}]


def test_a_writer_that_knows_no_new_column_does_not_take_it_away(catalog, table):
    job = new_job(table)
    catalog.alter_table("default", "t", [AddColumn("extra", parse_type("INT"))])
    now = load(catalog)
    write(now, [{"id": 3, "v": "c", "extra": 3}])
    snapshot = write(table, [{"id": 4, "v": "late"}], job=job)
    assert snapshot.schema_id == now.schema.id
    rows = {row["id"]: row for row in read(load(catalog))}
    assert rows[3]["extra"] == 3
    assert rows[4] == {"id": 4, "v": "late", "extra": None}


def shown_to_others(table, schema_id):
    return json.loads(table.io.read(table.paths.schema(schema_id)))["options"]


@pytest.mark.parametrize(
    ("old", "new", "chosen"),
    [
        ({}, {}, "scan.timestamp-millis"),
        ({"file.format": "orc"}, {"file.format": "orc"}, "scan.timestamp-millis"),
        ({"bucket": "1"}, {"bucket": "4"}, "scan.timestamp-millis"),
        ({"bucket": "1"}, {"bucket": "-1"}, "scan.mode"),
        ({}, {"merge-engine": "first-row"}, "scan.mode"),
        ({"deletion-vectors.enabled": "true"}, {}, "scan.mode"),
        ({"scan.mode": "latest"}, {"scan.mode": "latest"}, "scan.mode"),
    ],
)
def test_other_engines_follow_the_snapshot_or_refuse(old, new, chosen):
    """They follow the newest snapshot where the old rows can be read under the new options, else they refuse."""
    current, schema = (schema_of({"v": "INT"}, ["v"], options=one) for one in (old, new))
    shown = until_committed(current, schema)
    scanned = {name: value for name, value in shown.items() if name.startswith("scan.")}
    assert list(scanned) == [chosen]
    assert ("being replaced" in scanned[chosen]) == (chosen == "scan.mode")
    assert ("commit.min-retry-wait" in shown) == (chosen != "scan.mode")


def test_a_schema_with_more_columns_is_not_staged(table):
    """A write that brings a column: old rows have nulls in it, and others may write on."""
    schema = replace(table.schema, id=1, replaces="0", base=0)
    assert schema_publisher(table.schemas, table.schema, schema)() == schema
    assert shown_to_others(table, 1) == dict(table.schema.options)


def test_other_engines_see_the_options_once_the_snapshot_is_there(catalog, table):
    replace_with(table, schema_of({"x": "INT"}, options={"bucket": "-1"}), [{"x": 1}])
    assert shown_to_others(table, 1) == {"bucket": "-1"}
    assert load(catalog).schema.options == {"bucket": "-1"}


@pytest.mark.parametrize("options", [{"bucket": "1"}, {"bucket": "1", "file.format": "avro"}])
def test_the_next_commit_settles_the_schema_of_a_killed_writer(catalog, table, monkeypatch, options):
    with monkeypatch.context() as killed:
        killed.setattr(SchemaStore, "settle", lambda *_: None)
        replace_with(table, schema_of({"x": "INT"}, ["x"], options=options), [{"x": 1}])
    assert shown_to_others(table, 1) != options
    now = load(catalog)
    assert now.schema.options == options
    write(now, [{"x": 2}])
    assert shown_to_others(table, 1) == options
    assert read(load(catalog)) == [{"x": 1}, {"x": 2}]


def test_a_replacement_that_died_is_not_settled_by_commits_to_the_old_table(catalog, table):
    replace_with(table, schema_of({"x": "INT"}, options={"bucket": "-1"}), [{"x": 1}], publish=False)
    write(load(catalog), [{"id": 3, "v": "c"}])
    assert "scan.mode" in shown_to_others(table, 1)
    assert len(read(load(catalog))) == 3
