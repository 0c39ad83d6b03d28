"""Procedures on tags: names for snapshots, which keep them."""

from __future__ import annotations

from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.history.automatic_tags import create_automatic_tags
from tablestore_engine.operation.history.tag_expire import expire_tags
from tablestore_engine.operation.history.tags import replace_tag
from tablestore_engine.sql.catalog.execute_context import utc
from tablestore_engine.sql.procedures.procedure import Arguments, Procedure, Rows, count, duration, millis
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table


def _create(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Names a snapshot, by default the latest, so that it does not expire.

    It is kept until the tag is deleted, or for `time_retained`, such as '30 d'; the default is the option
    `tag.default-time-retained`.
    """
    snapshot = count("snapshot", arguments, 1) if "snapshot" in arguments else None
    table.create_tag(str(arguments["tag"]), snapshot, duration("time_retained", arguments))
    return [(True,)]


def _create_from_time(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Names the first snapshot that was committed at a time or after it."""
    at = millis("timestamp", arguments)
    assert at is not None
    found = _first_since(table, at)
    name = str(arguments["tag"])
    table.create_tag(name, found.id, duration("time_retained", arguments))
    return [(name, found.id, found.time_millis, found.watermark)]


def _first_since(table: Table, at: int) -> Snapshot:
    found = next((one for one in table.snapshot_store if one.time_millis >= at), None)
    if found is None:
        raise SnapshotNotFound(f"Table {table.name} has no snapshot of {utc(at)} or later.")
    return found


def _replace(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Changes the snapshot of a tag, or its time to live. Files that only the old tag kept are removed."""
    name = str(arguments["tag"])
    snapshot = table.tags.load(name)
    if "snapshot" in arguments:
        snapshot = table.snapshot(count("snapshot", arguments, 1))
    lifetime = table.tag_lifetime(duration("time_retained", arguments))
    replace_tag(table.state, name, snapshot, lifetime)
    return [(True,)]


def _rename(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Renames a tag."""
    table.tags.rename(str(arguments["tag"]), str(arguments["target_tag"]))
    return [(True,)]


def _delete(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes tags, several separated by commas, and the files that only they kept."""
    names = [name.strip() for name in str(arguments["tag"]).split(",")]
    for name in names:
        table.tags.load(name)
    for name in names:
        table.delete_tag(name)
    return [(True,)]


def _expire(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes the tags whose `time_retained` is over, and all that were created before `older_than`."""
    removed = expire_tags(table.state, context.now_millis(), millis("older_than", arguments))
    return [(name,) for name in removed]


def _trigger(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Makes the tags that the options `tag.automatic-creation` and so on ask for now, as a commit does, and returns
    their names."""
    return [(name,) for name in create_automatic_tags(table.state, context.now_millis())]


PROCEDURES: dict[str, Procedure] = {
    "trigger_tag_automatic_creation": Procedure(
        _trigger,
        ("table",),
        1,
        {"tag": "string"},
        "CALL sys.trigger_tag_automatic_creation(table => 'db.t').",
    ),
    "create_tag": Procedure(
        _create,
        ("table", "tag", "snapshot", "time_retained"),
        2,
        {"result": "boolean"},
        "CALL sys.create_tag(table => 'db.t', tag => 'year-end', snapshot => 7).",
    ),
    "create_tag_from_timestamp": Procedure(
        _create_from_time,
        ("table", "tag", "timestamp", "time_retained"),
        3,
        {"tag": "string", "snapshot": "bigint", "commit_time": "bigint", "watermark": "bigint"},
        "CALL sys.create_tag_from_timestamp(table => 'db.t', tag => 'year-end', timestamp => '2024-01-01 00:00:00').",
    ),
    "replace_tag": Procedure(
        _replace,
        ("table", "tag", "snapshot", "time_retained"),
        2,
        {"result": "boolean"},
        "CALL sys.replace_tag(table => 'db.t', tag => 'year-end', snapshot => 8).",
    ),
    "rename_tag": Procedure(
        _rename,
        ("table", "tag", "target_tag"),
        3,
        {"result": "boolean"},
        "CALL sys.rename_tag(table => 'db.t', tag => 'year-end', target_tag => '2024').",
    ),
    "delete_tag": Procedure(
        _delete,
        ("table", "tag"),
        2,
        {"result": "boolean"},
        "CALL sys.delete_tag(table => 'db.t', tag => 'year-end').",
    ),
    "expire_tags": Procedure(
        _expire,
        ("table", "older_than"),
        1,
        {"expired_tags": "string"},
        "CALL sys.expire_tags(table => 'db.t', older_than => '2024-01-01 00:00:00').",
    ),
}
