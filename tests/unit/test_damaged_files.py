"""Every kind of file of a table, broken in every way, under every door that reads it without Spark.

Each gives one error that names the file and its table, on the command line in one line; or, for a file on which no
answer relies, the right answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
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
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.identity import CommitIdentity
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.job.write_intent import WriteIntent
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.storage.stores import manifests
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


METADATA = ("read", "write", "compact", "describe")
KINDS = {
    "data file": Kind("keyed", lambda t: path_of(t, t.live_files()[0]), ("read", "compact", "describe")),
    "manifest": Kind("keyed", _manifest, METADATA),
    "manifest list": Kind("keyed", lambda t: t.paths.manifest(t.latest_snapshot().base_manifest_list), METADATA),
    "schema": Kind("keyed", lambda t: t.paths.schema(0), (*METADATA, "snapshots")),
    "snapshot": Kind("keyed", lambda t: t.paths.snapshot(t.latest_snapshot().id), (*METADATA, "snapshots")),
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
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    catalog = Catalog(tmp_path_factory.mktemp("warehouse"))
    for make in (keyed, dynamic, deleted):
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


# A tag that is missing was deleted; missing statistics are not needed to read a table.
ACCEPTED = {("tag", "missing"), ("statistics", "missing")}


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
