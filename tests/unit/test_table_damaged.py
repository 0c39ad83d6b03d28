"""Every kind of file of a table, broken in every way, under every door that reads it without Spark.

Each gives one error that names the file and its table, on the command line in one line; or, for a file on which no
answer relies, the right answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.deletion_vectors import delete_positions, with_options
from support.files import path_of
from support.tables import arrow_rows, compact, make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.cli import main
from tablestore_engine.errors import CorruptFileError, StorageError
from tablestore_engine.metadata.statistics import Statistics
from tablestore_engine.metadata.warehouse.function import FunctionDefinition
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.operation.changelog.change_plan import changelog_plan
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.identity import CommitIdentity
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.history.snapshot_expire import Retention
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.storage.stores import manifests
from tablestore_engine.storage.stores.consumers import set_consumer
from tablestore_engine.table import Table

DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeroed": lambda data: bytes(len(data)),
    "wrong magic": lambda data: b"XXXX" + data[4:-4] + b"XXXX",
}
COLUMNS = {"id": "BIGINT NOT NULL", "v": "STRING"}


def rows(count, v="x"):
    return [{"id": n, "v": f"{v} {n}"} for n in range(count)]


def keyed(catalog):
    table = make_table(catalog, COLUMNS, ["id"], name="keyed")
    write(table, rows(20))
    write(table, rows(20, "y"))
    table.create_tag("kept")
    name = table.state.statistics.write(Statistics(table.latest_snapshot().id, 0, 20, 100))
    publish_change(table.state, Change("ANALYZE", statistics=name), WriteIntent(identity=CommitIdentity("test", 99)))
    return table


def dynamic(catalog):
    table = make_table(catalog, COLUMNS, ["id"], (), {"bucket": "-1"}, name="dynamic")
    table.write(arrow_rows(table.schema, rows(20)))
    return table


def logged(catalog, file_format):
    """A table of one format with a changelog."""
    options = {"bucket": "1", "changelog-producer": "input", "file.format": file_format, "write-only": "true"}
    table = make_table(catalog, COLUMNS, ["id"], (), options, name=file_format)
    for v in "xyz":
        table.write(arrow_rows(table.schema, rows(10, v)))
    set_consumer(table.io, table.paths, "reader", 2)
    table.create_tag("kept", 1)
    return table


def indexed(catalog):
    options = {"file-index.bitmap.columns": "v", "file-index.in-manifest-threshold": "1 b"}
    table = make_table(catalog, COLUMNS, options=options, name="indexed")
    write(table, rows(20))
    return table


def deleted(catalog):
    table = make_table(catalog, COLUMNS, name="deleted")
    write(table, rows(20))
    delete_positions(table, {table.live_files()[0].file.file_name: [1, 3]})
    return with_options(catalog, table, {"deletion-vectors.enabled": "true", "bucket": "-1"})


@dataclass(frozen=True)
class Kind:
    """A kind of file: the table that has one, its path, and the doors that read it."""

    table: str
    path: Callable[[Table], str]
    doors: tuple[str, ...]


def _manifest(table):
    snapshot = table.latest_snapshot()
    return table.paths.manifest(table.manifests.read_list(snapshot.base_manifest_list)[0].file_name)


def _changelog_file(table):
    (between,) = changelog_plan(table.state, [table.latest_snapshot()]).buckets
    return between.path_of(table.paths, between.files[0])


def _changelog_manifest(table):
    name = table.latest_snapshot().changelog_manifest_list
    return table.paths.manifest(table.manifests.read_list(name)[0].file_name)


def _index_of(table):
    entry = table.live_files()[0]
    return f"{path_of(table, entry).rpartition('/')[0]}/{entry.file.index_file}"


METADATA = ("read", "write", "compact", "describe")
FORMATS = ("parquet", "orc", "avro")
KINDS = {
    **{f"data file, {one}": Kind(one, lambda t: path_of(t, t.live_files()[0]), ("read", "compact")) for one in FORMATS},
    **{f"changelog file, {one}": Kind(one, _changelog_file, ("changelog",)) for one in FORMATS},
    "changelog manifest": Kind("avro", _changelog_manifest, ("changelog", "orphans")),
    "changelog manifest list": Kind(
        "avro", lambda t: t.paths.manifest(t.latest_snapshot().changelog_manifest_list), ("changelog", "orphans")
    ),
    "manifest of an old snapshot": Kind(
        "avro", lambda t: t.paths.manifest(t.snapshot(1).delta_manifest_list), ("restore", "old", "kept", "orphans")
    ),
    "consumer": Kind("avro", lambda t: t.paths.consumer("reader"), ("expire",)),
    "file index": Kind("indexed", _index_of, ("look up",)),
    "data file": Kind("keyed", lambda t: path_of(t, t.live_files()[0]), ("read", "compact", "describe")),
    "manifest": Kind("keyed", _manifest, METADATA),
    "manifest list": Kind("keyed", lambda t: t.paths.manifest(t.latest_snapshot().base_manifest_list), METADATA),
    "schema": Kind("keyed", lambda t: t.paths.schema(0), (*METADATA, "snapshots")),
    "snapshot": Kind("keyed", lambda t: t.paths.snapshot(t.latest_snapshot().id), (*METADATA, "snapshots", "orphans")),
    "tag": Kind("keyed", lambda t: t.paths.tag("kept"), ("tag",)),
    "statistics": Kind("keyed", lambda t: t.paths.statistics(t.latest_snapshot().statistics), ("describe",)),
    "hash index": Kind("dynamic", lambda t: index_path(t.paths, t.schema, t.index_files()[0]), ("write",)),
    "index manifest": Kind("dynamic", lambda t: t.paths.manifest(t.latest_snapshot().index_manifest), ("write",)),
    "deletion vectors": Kind("deleted", lambda t: index_path(t.paths, t.schema, t.index_files()[0]), ("read",)),
}
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
    for make in (keyed, dynamic, deleted, indexed, *(partial(logged, file_format=one) for one in FORMATS)):
        make(catalog)
    return catalog


@pytest.fixture
def broken(catalog, request):
    """A function that breaks a file; at the end it is as it was."""
    undo = []

    def act(path, damage):
        path = Path(path)
        data, mode = path.read_bytes(), path.stat().st_mode
        undo.append((path, data, mode))
        manifests._cache.clear()
        if damage in DAMAGES:
            path.write_bytes(DAMAGES[damage](data))
        elif damage == "unreadable":
            path.chmod(0)
        else:
            path.unlink()
            if damage == "a folder":
                path.mkdir()

    yield act
    for path, data, mode in undo:
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
    manifests._cache.clear()


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


def cells():
    for kind in KINDS:
        for damage in (*DAMAGES, "missing", "a folder", "unreadable"):
            if (kind, damage) in ACCEPTED:
                continue
            root = damage == "unreadable" and os.geteuid() == 0
            marks = [pytest.mark.skip(reason="root may read everything")] if root else []
            yield pytest.param(kind, damage, id=f"{kind}, {damage}", marks=marks)


# A tag or consumer that is missing was deleted; missing statistics are not needed to read a table.
ACCEPTED = {("tag", "missing"), ("statistics", "missing"), ("consumer", "missing")}


@pytest.mark.parametrize(("kind", "damage"), list(cells()))
def test_a_broken_file_is_named(catalog, broken, kind, damage):
    of = KINDS[kind]
    path = of.path(catalog.load_table("default", of.table))
    broken(path, damage)
    for door in of.doors:
        check(catalog, of.table, door, path)


@pytest.mark.parametrize("damage", [*DAMAGES, "missing", "a folder"])
@pytest.mark.parametrize("hint", ["LATEST", "EARLIEST"])
def test_hints_are_not_needed(catalog, broken, hint, damage):
    table = catalog.load_table("default", "keyed")
    expected, newest = sorted(read(table), key=lambda row: row["id"]), table.latest_snapshot().id
    broken(Path(table.paths.snapshot_dir) / hint, damage)
    found = catalog.load_table("default", "keyed")
    assert found.latest_snapshot().id == newest
    assert sorted(read(found), key=lambda row: row["id"]) == expected
    assert _run(catalog, "keyed", "describe").exit_code == 0


def test_without_the_hint_the_snapshots_that_are_left_count(catalog, broken):
    """What the message says to do when the newest snapshot is lost for good."""
    table = catalog.load_table("default", "keyed")
    newest = table.latest_snapshot().id
    broken(table.paths.snapshot(newest), "missing")
    broken(table.paths.latest_hint, "missing")
    assert catalog.load_table("default", "keyed").latest_snapshot().id == newest - 1


# -- files of the warehouse, which belong to no table ----------------------------------------------------


WAREHOUSE_DAMAGES = {**DAMAGES, "of another program": lambda data: b'{"a": 1}', "a list": lambda data: b"[1]"}


@pytest.mark.parametrize("damage", [*WAREHOUSE_DAMAGES, "a folder"])
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
    file.unlink()
    if damage == "a folder":
        file.mkdir()
    else:
        file.write_bytes(WAREHOUSE_DAMAGES[damage](data))
    with pytest.raises((CorruptFileError, StorageError)) as caught:
        read(catalog)
    assert str(file) in str(caught.value)
    assert again in str(caught.value)
    assert catalog.list_views("default") == ["seen"]
    assert catalog.functions.names("default") == ["twice"]
    listed = CliRunner().invoke(main, ["tables", "-w", catalog.warehouse])
    assert listed.exit_code == 0, listed.output


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
