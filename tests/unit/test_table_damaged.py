"""Every kind of file of a table, broken in every way, under every door that reads it without Spark.

Each gives one error that names the file and its table, on the command line in one line; or, for a file on which no
answer relies, the right answer.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.damaged import COLUMNS, DAMAGES, EVERY_DAMAGE, FILES, FORMATS, NOT_NEEDED, broken, make_tables, rows
from support.files import path_of
from support.tables import arrow_rows, compact, make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.cli import main
from tablestore_engine.errors import CorruptFileError, StorageError
from tablestore_engine.metadata.warehouse.function import FunctionDefinition
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.system.system_tables import system_rows

METADATA = ("read", "write", "compact", "describe")
DOORS_OF = {
    **{f"data file, {one}": ("read", "compact") for one in FORMATS},
    **{f"changelog file, {one}": ("changelog",) for one in FORMATS},
    "changelog manifest": ("changelog", "orphans"),
    "changelog manifest list": ("changelog", "orphans"),
    "manifest of an old snapshot": ("restore", "old", "kept", "orphans"),
    "consumer": ("expire",),
    "file index": ("look up",),
    "data file": ("read", "compact", "describe"),
    "manifest": METADATA,
    "manifest list": METADATA,
    "schema": (*METADATA, "snapshots"),
    "snapshot": (*METADATA, "snapshots", "orphans"),
    "tag": ("tag",),
    "statistics": ("describe",),
    "hash index": ("write",),
    "index manifest": ("write",),
    "deletion vectors": ("read",),
}
"""The doors that read a kind of file."""
DOORS = {
    "read": lambda table: table.to_arrow(),
    "write": lambda table: table.write(arrow_rows(table.schema, rows(30, "z"))),
    "compact": compact,
    "tag": lambda table: table.to_arrow(snapshot=table.version("kept")),
    "old": lambda table: table.to_arrow(snapshot=table.snapshot(1)),
    "kept": lambda table: table.to_arrow(snapshot=table.version("kept")),
    "restore": lambda table: table.roll_back(1),
    "changelog": lambda table: table.changes(1, recorded=True),
    "orphans": lambda table: table.remove_orphan_files(10**15, dry_run=True),
    "expire": lambda table: table.expire_snapshots(Retention(1, 1, 0, 100)),
    "look up": lambda table: table.scan(predicate=Compare("v", "=", "x 55")),
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    catalog = Catalog(tmp_path_factory.mktemp("warehouse"))
    make_tables(catalog)
    return catalog


def _run(catalog, name, door):
    """What a door says of a table; an error is raised."""
    if door in DOORS:
        return DOORS[door](catalog.load_table("default", name))
    return CliRunner().invoke(main, [door, "-w", catalog.warehouse, f"default.{name}"])


def check(catalog, name, door, path):
    """One error, which names the file and the table; on the command line it is one line."""
    if door in DOORS:
        with pytest.raises((CorruptFileError, StorageError)) as caught:
            _run(catalog, name, door)
        said = str(caught.value)
    else:
        result = _run(catalog, name, door)
        said = result.stderr
        assert (result.exit_code, len(said.splitlines())) == (3, 1), result.output
    assert f"{path} (table default.{name}): " in said, said


CELLS = [(kind, damage) for kind in FILES for damage in EVERY_DAMAGE if (kind, damage) not in NOT_NEEDED]


@pytest.mark.parametrize(("kind", "damage"), CELLS)
def test_a_broken_file_is_named(catalog, kind, damage):
    name, path_of_kind = FILES[kind]
    path = path_of_kind(catalog.load_table("default", name))
    with broken(path, damage):
        for door in DOORS_OF[kind]:
            check(catalog, name, door, path)


def test_a_query_of_statistics_needs_their_file(catalog):
    """Other statements do without it."""
    table = catalog.load_table("default", "keyed")
    newest = table.latest_snapshot()
    path = table.paths.statistics(newest.statistics)
    with broken(path, "missing"):
        with pytest.raises(CorruptFileError, match=rf"{path} \(table default.keyed\): it is missing.*ANALYZE TABLE"):
            system_rows(table, "statistics", newest)
        assert _run(catalog, "keyed", "describe").exit_code == 0
    assert len(system_rows(table, "statistics", newest)[1]) == 1


@pytest.mark.parametrize("damage", [*DAMAGES, "missing", "a folder"])
@pytest.mark.parametrize("hint", ["LATEST", "EARLIEST"])
def test_hints_are_not_needed(catalog, hint, damage):
    table = catalog.load_table("default", "keyed")
    expected, newest = sorted(read(table), key=lambda row: row["id"]), table.latest_snapshot().id
    with broken(Path(table.paths.snapshot_dir) / hint, damage):
        found = catalog.load_table("default", "keyed")
        assert found.latest_snapshot().id == newest
        assert sorted(read(found), key=lambda row: row["id"]) == expected
        assert _run(catalog, "keyed", "describe").exit_code == 0


def test_without_the_hint_the_snapshots_that_are_left_count(catalog):
    """What the message says to do when the newest snapshot is lost for good."""
    table = catalog.load_table("default", "keyed")
    newest = table.latest_snapshot().id
    with broken(table.paths.snapshot(newest), "missing"), broken(table.paths.latest_hint, "missing"):
        assert catalog.load_table("default", "keyed").latest_snapshot().id == newest - 1


# -- files of the warehouse, which belong to no table ----------------------------------------------------


WAREHOUSE_DAMAGES = {**DAMAGES, "of another program": lambda data: b'{"a": 1}', "a list": lambda data: b"[1]"}


@pytest.mark.parametrize("damage", [*WAREHOUSE_DAMAGES, "a folder", "unreadable"])
@pytest.mark.parametrize(
    ("path", "read", "again"),
    [
        ("default.db/.views/seen.json", lambda c: c.load_view("default", "seen"), "CREATE OR REPLACE VIEW"),
        (
            "default.db/.functions/twice.json",
            lambda c: c.functions.load("default", "twice"),
            "CREATE OR REPLACE FUNCTION",
        ),
    ],
)
def test_views_and_functions(tmp_path, path, read, again, damage):
    catalog = Catalog(tmp_path)
    catalog.create_view("default", "seen", View("SELECT 1 AS x", "default"))
    twice = FunctionDefinition((), "INT", "SQL", "1").named("default", "twice")
    catalog.functions.create("default", "twice", twice)
    file = tmp_path / path
    data = file.read_bytes()
    with broken(file, damage if damage in EVERY_DAMAGE else "cut"):
        if damage in WAREHOUSE_DAMAGES:
            file.write_bytes(WAREHOUSE_DAMAGES[damage](data))
        with pytest.raises((CorruptFileError, StorageError)) as caught:
            read(catalog)
        said = str(caught.value)
        assert str(file) in said
        assert again in said or (damage == "unreadable" and "Check that the user" in said)
        assert catalog.list_views("default") == ["seen"]
        assert catalog.functions.names("default") == ["twice"]
        listed = CliRunner().invoke(main, ["tables", "-w", catalog.warehouse])
        assert listed.exit_code == 0, listed.output
        if "VIEW" in again:
            shown = CliRunner().invoke(main, ["describe", "-w", catalog.warehouse, "default.seen"])
            assert (shown.exit_code, len(shown.stderr.splitlines())) == (3, 1), shown.output
            assert str(file) in shown.stderr


@pytest.mark.parametrize("cut", [1, 3])
def test_a_data_file_of_avro_that_ends_after_a_block(tmp_path, cut):
    """Such a file has no footer: what is left of it looks whole."""
    catalog = Catalog(tmp_path)
    table = make_table(catalog, COLUMNS, options={"file.format": "avro"})
    table.write(arrow_rows(table.schema, rows(100_000)))
    path = Path(path_of(table, table.live_files()[0]))
    data = path.read_bytes()
    sync = data[-16:]
    assert data.count(sync) > 4, "there are several blocks"
    end = len(data)
    for _ in range(cut):
        end = data.rindex(sync, 0, end - 16) + 16
    path.write_bytes(data[:end])
    with pytest.raises(CorruptFileError, match=f"it has {end:,} bytes, and was written with {len(data):,}"):
        table.to_arrow()


def test_the_schema_of_the_newest_snapshot_is_lost(tmp_path):
    table = make_table(Catalog(tmp_path), COLUMNS)
    write(table, rows(3))
    write(table.alter(AddColumn(("w",), parse_type("INT"))), rows(3))
    os.unlink(table.paths.schema(1))
    for door in ("read", "write", "describe"):
        check(Catalog(tmp_path), "t", door, table.paths.schema(1))


def test_a_plan_of_compaction(tmp_path):
    """What is scheduled is planned anew; what was written stays."""
    options = {"bucket": "1", "compaction.schedule.enabled": "true", "compaction.delta-commits": "2"}
    table = make_table(Catalog(tmp_path), COLUMNS, ["id"], (), options)
    for v in "xyz":
        table.write(arrow_rows(table.schema, rows(5, v)))
    (note,) = [one for one in os.listdir(table.paths.compaction_dir) if one.endswith("requested")]
    path = f"{table.paths.compaction_dir}/{note}"
    whole = Path(path).read_bytes()
    assert json.loads(whole)
    for damage in DAMAGES.values():
        Path(path).write_bytes(damage(whole))
        assert len(read(table)) == 5
        with pytest.raises(CorruptFileError) as caught:
            table.state.timeline.load()
        assert f"{path} (table default.t): " in str(caught.value)
