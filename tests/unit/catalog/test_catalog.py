"""The catalog: the warehouse directory itself."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from support.tables import arrow_rows, make_table, read, schema_of, write

from tablestore_engine.catalog import Catalog, View
from tablestore_engine.errors import (
    ConflictError,
    CorruptMetadataError,
    DatabaseAlreadyExists,
    DatabaseNotFound,
    DependencyError,
    NotAManagedTableError,
    OptionError,
    StorageError,
    TableAlreadyExists,
    TableNotFound,
    UserError,
    ViewNotFound,
)
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.commit.replace_table import next_schema, replace_all
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.schema_changes import AddColumn, SetOption
from tablestore_engine.schema.types.types import DataField, parse_type
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

SCHEMA = schema_of({"id": "INT"})


@pytest.fixture
def catalog(tmp_path):
    return Catalog(tmp_path / "warehouse")


def hidden(catalog, database="default"):
    directory = catalog.paths.database_dir(database)
    return [n for n in os.listdir(directory) if n.startswith(".") and n != ".views"] if os.path.isdir(directory) else []


def test_an_empty_warehouse_has_the_default_database(catalog):
    assert catalog.list_databases() == ["default"]
    assert catalog.list_tables("default") == []
    assert not os.path.exists(catalog.warehouse), "looking makes nothing"


def test_databases(catalog):
    catalog.create_database("Sales")
    assert catalog.list_databases() == ["default", "sales"]
    assert catalog.database_exists("SALES")
    with pytest.raises(DatabaseAlreadyExists):
        catalog.create_database("sales")
    catalog.create_database("sales", if_not_exists=True)
    with pytest.raises(DatabaseNotFound, match="default, sales"):
        catalog.list_tables("nope")
    catalog.drop_database("sales")
    catalog.drop_database("sales", if_exists=True)
    with pytest.raises(DatabaseNotFound):
        catalog.drop_database("sales")


@pytest.mark.parametrize("name", ["", ".x", "a/b", " a", "a\nb", "x" * 300])
def test_names_that_cannot_be(catalog, name):
    with pytest.raises(UserError):
        catalog.create_database(name)
    with pytest.raises(UserError):
        catalog.create_table("default", name, SCHEMA)


def test_dropping_what_is_not_empty(catalog):
    catalog.create_database("d")
    catalog.create_table("d", "t", SCHEMA)
    catalog.create_view("d", "v", View("SELECT 1", "d"))
    with pytest.raises(DependencyError, match="t, v"):
        catalog.drop_database("d")
    catalog.drop_database("d", cascade=True)
    assert catalog.list_databases() == ["default"]
    assert os.listdir(catalog.warehouse) == []


def test_dropping_a_folder_with_files_of_others(catalog):
    catalog.create_database("d")
    folder = catalog.paths.database_dir("d")
    os.makedirs(f"{folder}/notes/2026")
    Path(folder, "notes/2026/mine.csv").write_text("kept")
    with pytest.raises(DependencyError, match=r"notes/2026/mine\.csv"):
        catalog.drop_database("d")
    assert Path(folder, "notes/2026/mine.csv").read_text() == "kept"
    os.unlink(f"{folder}/notes/2026/mine.csv")
    catalog.drop_database("d")
    assert not catalog.database_exists("d")


def test_tables(catalog):
    made = catalog.create_table("default", "Orders", SCHEMA)
    assert made.identifier == ("default", "orders")
    assert catalog.list_tables("default") == ["orders"]
    assert catalog.load_table("DEFAULT", "ORDERS").schema == made.schema
    assert catalog.object_kind("default", "oRders") == "table"
    with pytest.raises(TableAlreadyExists):
        catalog.create_table("default", "orders", SCHEMA)
    assert catalog.create_table("default", "orders", schema_of({"x": "INT"}), if_not_exists=True).schema == made.schema
    catalog.drop_table("default", "orders")
    assert (catalog.list_tables("default"), hidden(catalog)) == ([], [])
    catalog.drop_table("default", "orders", if_exists=True)
    with pytest.raises(TableNotFound):
        catalog.drop_table("default", "orders")


def test_a_missing_name_is_reported_with_similar_ones(catalog):
    catalog.create_table("default", "orders", SCHEMA)
    with pytest.raises(TableNotFound, match="Did you mean 'orders'"):
        catalog.load_table("default", "order")
    with pytest.raises(DatabaseNotFound):
        catalog.load_table("nope", "orders")


def test_a_missing_name_is_reported_with_the_schemas_that_have_it(catalog):
    for n in range(7):
        catalog.create_database(f"s{n}")
        catalog.create_table(f"s{n}", "orders", SCHEMA)
        hint = ", ".join(f"'s{one}.Orders'" for one in range(min(n + 1, 5)))
        with pytest.raises(TableNotFound) as caught:
            catalog.load_table("default", "Orders")
        assert (caught.value.hint or "").endswith(f": {hint}{', …' if n >= 5 else ''}.")
    with pytest.raises(TableNotFound, match=r"'default.none' does not exist\.$"):
        catalog.load_table("default", "none")


def test_a_directory_of_somebody_else(catalog):
    directory = catalog.paths.table_dir("default", "theirs")
    os.makedirs(directory)
    assert catalog.list_tables("default") == []
    assert catalog.object_kind("default", "theirs") is None
    with pytest.raises(NotAManagedTableError):
        catalog.create_table("default", "theirs", SCHEMA)
    with pytest.raises(NotAManagedTableError):
        catalog.load_table("default", "theirs")


def test_upper_case_directories_of_other_programs_are_found(catalog):
    table = make_table(catalog, {"id": "INT"})
    write(table, [{"id": 1}])
    database = catalog.paths.database_dir("default")
    os.rename(table.path, os.path.join(database, "MyTable"))
    assert read(catalog.load_table("default", "mytable")) == [{"id": 1}]
    assert catalog.list_tables("default") == ["MyTable"]
    with pytest.raises(TableAlreadyExists):
        catalog.create_table("default", "mytable", SCHEMA)


def test_a_damaged_schema_is_named(catalog):
    table = catalog.create_table("default", "t", SCHEMA)
    with open(table.paths.schema(0), "w") as file:
        file.write("{")
    with pytest.raises(CorruptMetadataError, match="schema-0"):
        catalog.load_table("default", "t")


def test_rename(catalog):
    catalog.create_database("other")
    table = make_table(catalog, {"id": "INT"})
    write(table, [{"id": 1}])
    catalog.rename_table("default", "t", "other", "New")
    assert catalog.list_tables("default") == []
    assert read(catalog.load_table("other", "new")) == [{"id": 1}]
    catalog.create_table("default", "t", SCHEMA)
    with pytest.raises(TableAlreadyExists):
        catalog.rename_table("default", "t", "other", "new")
    with pytest.raises(TableNotFound):
        catalog.rename_table("default", "nope", "other", "x")
    with pytest.raises(DatabaseNotFound):
        catalog.rename_table("default", "t", "nope", "x")


def test_renaming_onto_a_directory_of_somebody_else(catalog):
    catalog.create_table("default", "t", SCHEMA)
    os.makedirs(catalog.paths.table_dir("default", "theirs") + "/data")
    with pytest.raises(TableAlreadyExists):
        catalog.rename_table("default", "t", "default", "theirs")
    assert catalog.list_tables("default") == ["t"]


def test_views(catalog):
    view = View("SELECT 1 AS x", "default", (DataField(0, "x", parse_type("INT")),), "why", {"k": "v"})
    catalog.create_view("default", "V", view)
    assert catalog.load_view("default", "v") == view
    assert catalog.list_views("default") == ["v"]
    assert catalog.list_tables("default") == []
    assert catalog.object_kind("default", "V") == "view"
    with pytest.raises(TableAlreadyExists):
        catalog.create_view("default", "v", view)
    catalog.create_view("default", "v", View("SELECT 2", "default"), if_not_exists=True)
    assert catalog.load_view("default", "v") == view
    catalog.create_view("default", "v", View("SELECT 2", "default"), replace=True)
    assert catalog.load_view("default", "v").sql == "SELECT 2"
    with pytest.raises(TableNotFound, match="view, not a table"):
        catalog.load_table("default", "v")
    with pytest.raises(TableAlreadyExists, match="View"):
        catalog.create_table("default", "v", SCHEMA)
    catalog.rename_table("default", "v", "default", "w")
    assert catalog.list_views("default") == ["w"]
    catalog.drop_view("default", "w")
    with pytest.raises(ViewNotFound):
        catalog.drop_view("default", "w")
    catalog.drop_view("default", "w", if_exists=True)
    with pytest.raises(ViewNotFound):
        catalog.load_view("default", "w")


def test_a_view_keeps_the_names_of_its_query(catalog):
    fields = (DataField(0, "b", parse_type("INT")),)
    view = View("SELECT 1 AS a", "default", fields, query_columns=("a",))
    catalog.create_view("default", "v", view)
    assert catalog.load_view("default", "v") == view
    catalog.rename_table("default", "v", "default", "w")
    assert catalog.load_view("default", "w") == view


def test_a_table_cannot_become_a_view(catalog):
    catalog.create_table("default", "t", SCHEMA)
    for replacing in (False, True):
        with pytest.raises(TableAlreadyExists, match="is a table"):
            catalog.create_view("default", "t", View("SELECT 1", "default"), replace=replacing)


def test_a_damaged_view_is_named(catalog):
    catalog.create_view("default", "v", View("SELECT 1", "default"))
    with open(catalog.paths.view("default", "v"), "w") as file:
        file.write("[]")
    with pytest.raises(CorruptMetadataError, match=r"v\.json"):
        catalog.load_view("default", "v")


def test_staged_tables_are_nobody_s_business(catalog):
    staged = catalog.stage_table("default", "t", SCHEMA)
    assert catalog.list_tables("default") == []
    assert not catalog.table_exists("default", "t")
    assert catalog.publish(staged, "default", "t")
    assert catalog.list_tables("default") == ["t"]
    second = catalog.stage_table("default", "t", SCHEMA)
    assert not catalog.publish(second, "default", "t")


def test_one_of_many_creators_wins(catalog):
    outcomes = []

    lost = []

    def create(number):
        try:
            catalog.create_table("default", "t", schema_of({f"c{number}": "INT"}))
            outcomes.append(number)
        except Exception as error:
            lost.append(error)

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = outcomes
    assert [type(one) for one in lost] == [TableAlreadyExists] * 7, lost
    assert catalog.load_table("default", "t").schema.field_names == (f"c{winner}",)
    assert hidden(catalog) == []


def test_options_of_a_table_with_an_engine_of_a_newer_writer(catalog):
    table = catalog.create_table("default", "t", schema_of({"id": "INT", "v": "INT"}, ["id"]))
    file = Path(table.path, "schema", "schema-0")
    file.write_text(file.read_text().replace('"options": {', '"options": {"merge-engine": "new-one", '))
    catalog.alter_table("default", "t", [SetOption("write-only", "true")])
    changed = catalog.load_table("default", "t")
    assert changed.schema.options["write-only"] == "true"
    with pytest.raises(OptionError, match="new-one"):
        write(changed, [{"id": 1, "v": 1}])


def test_a_column_added_between_reading_and_writing_the_schema(catalog, monkeypatch):
    catalog.create_table("default", "t", SCHEMA)
    other = Catalog(catalog.warehouse)
    create, calls = SchemaStore.try_create, []

    def create_and_be_overtaken(store, schema):
        calls.append(schema)
        if len(calls) == 1:
            other.alter_table("default", "t", [AddColumn("theirs", parse_type("INT"))])
        return create(store, schema)

    monkeypatch.setattr(SchemaStore, "try_create", create_and_be_overtaken)
    catalog.alter_table("default", "t", [AddColumn("ours", parse_type("INT"))])
    assert other.load_table("default", "t").schema.field_names == ("id", "theirs", "ours")


@pytest.mark.parametrize("_", range(5))
def test_columns_added_at_once_are_all_there(catalog, _):
    catalog.create_table("default", "t", SCHEMA)

    def add(number):
        catalog.alter_table("default", "t", [AddColumn(f"c{number}", parse_type("INT"))])

    threads = [threading.Thread(target=add, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    schema = catalog.load_table("default", "t").schema
    assert set(schema.field_names) == {"id", *(f"c{n}" for n in range(6))}
    assert len({f.id for f in schema.fields}) == 7


def test_a_schema_that_others_keep_changing(catalog, monkeypatch):
    catalog.create_table("default", "t", SCHEMA)
    monkeypatch.setattr(
        "tablestore_engine.storage.metadata_files.schema_store.SchemaStore.try_create", lambda self, schema: False
    )
    with pytest.raises(ConflictError):
        catalog.alter_table("default", "t", [AddColumn("c", parse_type("INT"))])


def test_dropping_twice_at_once(catalog):
    class Late(LocalFileIO):
        def rename(self, src, dst):
            other.drop_table("default", "t")
            return super().rename(src, dst)

    other = Catalog(catalog.warehouse)
    catalog.create_table("default", "t", SCHEMA)
    Catalog(catalog.warehouse, Late()).drop_table("default", "t")
    assert catalog.list_tables("default") == []


def test_a_warehouse_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file"):
        Catalog(tmp_path / "file").create_table("default", "t", SCHEMA)


def test_columns_added_while_the_table_is_replaced(catalog):
    catalog.create_table("default", "t", SCHEMA)
    table = catalog.load_table("default", "t")
    wanted = next_schema(table.schema, create_schema([("x", parse_type("INT"), None)]), 0)

    def publish():
        assert table.schemas.try_create(wanted)
        for name in ("a", "b"):
            catalog.alter_table("default", "t", [AddColumn(name, parse_type("INT"))])
        assert catalog.load_table("default", "t").schema.field_names == ("id", "a", "b")
        return wanted

    Committer(table.state.with_schema(wanted)).commit(
        replace_all(table.schema, wanted), CommitIdentity("r", 1), new_schema=publish
    )
    assert catalog.load_table("default", "t").schema.field_names == ("x",)
    catalog.alter_table("default", "t", [AddColumn("y", parse_type("INT"))])
    assert catalog.load_table("default", "t").schema.field_names == ("x", "y")
    late = catalog.load_table("default", "t")
    stale = late.with_schema(late.schemas.load(3))
    with pytest.raises(ConflictError, match="replaced"):
        Committer(stale.state).commit(Change("APPEND"), CommitIdentity("s", 1))


@pytest.mark.parametrize("written", [0, 2])
@pytest.mark.parametrize("made_anew", [None, {"s": "STRING"}, {"id": "INT", "v": "INT"}])
@pytest.mark.parametrize("renamed", [False, True])
def test_a_write_to_a_table_that_others_dropped_or_renamed_is_refused(tmp_path, written, made_anew, renamed):
    found = Catalog(tmp_path)
    table = make_table(found, {"id": "INT", "v": "INT"}, name="t")
    for _ in range(written):
        table.write(arrow_rows(table.schema, [{"id": 1, "v": 1}]))
    if renamed:
        found.rename_table("default", "t", "default", "other")
    else:
        found.drop_table("default", "t")
    if made_anew:
        found.create_table("default", "t", schema_of(made_anew, time_millis=7))
    with pytest.raises((TableNotFound, StorageError), match=r"dropped or renamed .*meanwhile"):
        table.write(arrow_rows(table.schema, [{"id": 2, "v": 2}]))
    with pytest.raises(TableNotFound, match="dropped or renamed"):
        table.alter(AddColumn("w", parse_type("INT")))
    if renamed:
        assert found.load_table("default", "other").to_arrow().num_rows == written
    if made_anew is None:
        make_table(found, {"s": "STRING"}, name="t")
    assert found.load_table("default", "t").to_arrow().num_rows == 0
