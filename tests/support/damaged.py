"""Tables that have every kind of file, the paths of these files, and ways to break them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from support.deletion_vectors import delete_positions, with_options
from support.files import path_of
from support.tables import arrow_rows, make_table, write
from tablestore_engine.metadata.analyze_statistics import Statistics
from tablestore_engine.operation.changelog.change_plan import changelog_plan
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.transaction.transaction import publish_change
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.storage.metadata_files import manifest_store
from tablestore_engine.storage.metadata_files.consumer_store import set_consumer

DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeroed": lambda data: bytes(len(data)),
    "wrong magic": lambda data: b"XXXX" + data[4:-4] + b"XXXX",
}
EVERY_DAMAGE = (*DAMAGES, "missing", "a folder", "unreadable")
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


FORMATS = ("parquet", "orc", "avro")


def make_tables(catalog):
    """All of them, in the database `default`."""
    for make in (keyed, dynamic, deleted, indexed, *(partial(logged, file_format=one) for one in FORMATS)):
        make(catalog)


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


def _snapshot(table):
    return table.latest_snapshot()


FILES = {
    **{f"data file, {one}": (one, lambda t: path_of(t, t.live_files()[0])) for one in FORMATS},
    **{f"changelog file, {one}": (one, _changelog_file) for one in FORMATS},
    "changelog manifest": ("avro", _changelog_manifest),
    "changelog manifest list": ("avro", lambda t: t.paths.manifest(_snapshot(t).changelog_manifest_list)),
    "manifest of an old snapshot": ("avro", lambda t: t.paths.manifest(t.snapshot(1).delta_manifest_list)),
    "consumer": ("avro", lambda t: t.paths.consumer("reader")),
    "file index": ("indexed", _index_of),
    "data file": ("keyed", lambda t: path_of(t, t.live_files()[0])),
    "manifest": ("keyed", _manifest),
    "manifest list": ("keyed", lambda t: t.paths.manifest(_snapshot(t).base_manifest_list)),
    "schema": ("keyed", lambda t: t.paths.schema(0)),
    "snapshot": ("keyed", lambda t: t.paths.snapshot(_snapshot(t).id)),
    "tag": ("keyed", lambda t: t.paths.tag("kept")),
    "statistics": ("keyed", lambda t: t.paths.statistics(_snapshot(t).statistics)),
    "hash index": ("dynamic", lambda t: index_path(t.paths, t.schema, t.index_files()[0])),
    "index manifest": ("dynamic", lambda t: t.paths.manifest(_snapshot(t).index_manifest)),
    "deletion vectors": ("deleted", lambda t: index_path(t.paths, t.schema, t.index_files()[0])),
}
"""Each kind of file: the table that has one, and its path."""


NOT_NEEDED = {("tag", "missing"), ("statistics", "missing"), ("consumer", "missing")}
"""A tag or consumer that is missing was deleted; missing statistics are not needed to read a table."""


@contextmanager
def broken(path, damage):
    """In the block a file is broken; afterwards it is as it was."""
    path = Path(path)
    data, mode = path.read_bytes(), path.stat().st_mode
    manifest_store._cache.clear()
    try:
        if damage in DAMAGES:
            path.write_bytes(DAMAGES[damage](data))
        elif damage == "unreadable" and os.geteuid():
            path.chmod(0)
        else:
            path.unlink()
            if damage == "a folder":
                path.mkdir()
            elif damage == "unreadable":
                path.symlink_to(path.name)  # the superuser may read everything but a link to itself
        yield
    finally:
        if not path.is_symlink() and path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
        manifest_store._cache.clear()


_SELECT, _INSERT = "select * from {}", "insert into {} values (30, 'z')"
_RECORDED = "select id, v from {}$audit_log /*+ OPTIONS('incremental-between' = '1,3') */"
_OTHER_STATEMENTS = {
    **{f"changelog file, {one}": _RECORDED for one in FORMATS},
    "changelog manifest": _RECORDED,
    "changelog manifest list": _RECORDED,
    "manifest of an old snapshot": "select * from {} version as of 1",
    "consumer": "call sys.expire_snapshots(table => '{}', retain_max => 1)",
    "file index": "select * from {} where v = 'x 55'",
    "tag": "select * from {} version as of 'kept'",
    "statistics": "describe extended {}",
    "hash index": _INSERT,
    "index manifest": _INSERT,
}
STATEMENTS = {kind: _OTHER_STATEMENTS.get(kind, _SELECT) for kind in FILES}
"""A statement that reads a kind of file, with {} for the name of the table."""
