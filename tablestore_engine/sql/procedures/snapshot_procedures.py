"""Procedures on the history of a table: expire snapshots, roll back, remove orphans."""

from __future__ import annotations

from datetime import timedelta

from tablestore_engine.catalog.abandoned_folders import abandoned_folders
from tablestore_engine.errors import SnapshotNotFound, SqlError
from tablestore_engine.operation.expiration.changelog_expire import expire_changelogs
from tablestore_engine.operation.expiration.snapshot_expire import Retention, changelog_retention
from tablestore_engine.sql.procedures.database_procedures import table_or_database, whole_database
from tablestore_engine.sql.procedures.procedure import (
    Arguments,
    Procedure,
    Rows,
    count,
    flag,
    millis,
    named_table,
    text,
)
from tablestore_engine.sql.write_statements.statement_context import RowContext
from tablestore_engine.table import Table

_ORPHAN_AGE = timedelta(days=1)
_YOUNG = timedelta(hours=1)


def _expire(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes old snapshots, and the files that only they needed.

    The newest `retain_min` snapshots are kept, and others that were the newest after `older_than`, but at most
    `retain_max`. Defaults are the table's options.
    """
    now = context.now_millis()
    return [(table.expire_snapshots(_retention(arguments, Retention.of(table.options), now), now),)]


def _expire_changelogs(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes old changelogs whose snapshots have expired, by the same rules; defaults are the table's options."""
    now = context.now_millis()
    usual = changelog_retention(table.options, Retention.of(table.options))
    return [(expire_changelogs(table.state, now, _retention(arguments, usual, now)),)]


def _retention(arguments: Arguments, usual: Retention, now: int) -> Retention:
    most = count("retain_max", arguments, usual.most)
    least = count("retain_min", arguments, min(usual.least, most))
    if least > most:
        raise SqlError(
            f"retain_min ({least}) is greater than retain_max ({most}).", hint="Lower one or raise the other."
        )
    older_than = millis("older_than", arguments)
    kept = usual.millis if older_than is None else max(now - older_than, 0)
    return Retention(least, most, kept, count("max_deletes", arguments, usual.limit))


def _roll_back(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Restores the rows of a snapshot or tag, as a new snapshot.

    `version` is either; `snapshot` and `tag` are explicit. Later snapshots are kept until they expire, so their readers
    do not fail, and the rollback can itself be rolled back.
    """
    named = [name for name in ("version", "snapshot", "tag") if text(name, arguments) is not None]
    if len(named) != 1:
        raise SqlError("sys.rollback needs one of version, snapshot and tag.", hint=PROCEDURES["rollback"].example)
    version = str(text(named[0], arguments))
    if named[0] == "snapshot":
        version = str(count("snapshot", arguments, 1))
    elif named[0] == "tag":
        table.tags.load(version)
    return _rolled_back(table, version)


def _roll_back_as_latest(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """The same as `sys.rollback`, by Paimon's name for a rollback that keeps later snapshots."""
    names = {"tag": "tag", "snapshot_id": "snapshot"}
    return _roll_back(table, {names[n]: value for n, value in arguments.items() if n in names}, context)


def _roll_back_to_time(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Restores the rows of a time, as a new snapshot: those of the latest snapshot until then."""
    at = millis("timestamp", arguments)
    assert at is not None
    return _rolled_back(table, str(table.snapshot_at(at).id))


def _roll_back_to_watermark(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Restores the rows of a watermark, as a new snapshot: those of the latest snapshot whose watermark is not later.

    `watermark` is in milliseconds since 1970, as `$snapshots` shows it. Snapshots without a watermark are left out.
    """
    wanted = arguments["watermark"]
    if isinstance(wanted, bool) or not isinstance(wanted, int):
        raise SqlError(f"watermark is a number of milliseconds since 1970, not {wanted!r}.")
    reached = ((one, one.reached_watermark) for one in table.snapshots())
    snapshots = [one for one, watermark in reached if watermark is not None and watermark <= wanted]
    if not snapshots:
        raise SnapshotNotFound(
            f"Table {table.name} has no snapshot with a watermark of {wanted} or earlier.",
            hint=f"SELECT snapshot_id, watermark FROM {table.name}$snapshots shows those that it has.",
        )
    return _rolled_back(table, str(snapshots[-1].id))


def _rolled_back(table: Table, version: str) -> Rows:
    before = table.latest_snapshot()
    to = table.version(version)
    snapshot = table.roll_back(version)
    if snapshot is None:
        return [(before.id if before else None, to.id, before.id if before else None)]
    return [(snapshot.id - 1, to.id, snapshot.id)]


def _remove_orphans(table: Table, arguments: Arguments, context: RowContext) -> Rows:
    """Removes files that no snapshot and no tag names, such as leftovers of killed writers.

    Only files that were last changed before `older_than`, by default a day ago, at the latest an hour ago: younger ones
    may belong to a running commit. `dry_run` only lists them. `table` => 'db.*' means all tables of a database. Hidden
    folders are removed, too, in which a CREATE TABLE AS that was killed had begun the table, or a DROP had not ended.
    """
    older_than = _older_than(arguments, context)
    return [(path,) for path in table.remove_orphan_files(older_than, dry_run=flag("dry_run", arguments))]


def _remove_abandoned(arguments: Arguments, context: RowContext) -> Rows:
    """Removes the hidden folders of what was being created or dropped under these names."""
    catalog, database = context.catalog, whole_database(arguments)
    if database is None:
        found, table = named_table(arguments, context)[0].identifier
    else:
        found, table = catalog.require_database(database), None
    folders = abandoned_folders(catalog.io, catalog.paths, found, table, _older_than(arguments, context))
    if not flag("dry_run", arguments):
        for path in folders:
            catalog.io.delete_tree(path)
    return [(path,) for path in folders]


def _older_than(arguments: Arguments, context: RowContext) -> int:
    older_than = millis("older_than", arguments)
    if older_than is None:
        older_than = context.now_millis() - int(_ORPHAN_AGE.total_seconds() * 1000)
    if older_than > context.now_millis() - int(_YOUNG.total_seconds() * 1000):
        raise SqlError(
            f"older_than is too late: {arguments['older_than']}. Younger files may belong to a running commit.",
            hint="Give a time that is an hour ago at least.",
        )
    return older_than


_ROLLED_BACK = {
    "previous_snapshot_id": "bigint",
    "rolled_back_snapshot_id": "bigint",
    "current_snapshot_id": "bigint",
}

PROCEDURES: dict[str, Procedure] = {
    "expire_snapshots": Procedure(
        _expire,
        ("table", "retain_max", "retain_min", "older_than", "max_deletes"),
        1,
        {"deleted_snapshots_count": "bigint"},
        "CALL sys.expire_snapshots(table => 'db.t', retain_max => 5, older_than => '2024-01-01 00:00:00').",
    ),
    "expire_changelogs": Procedure(
        _expire_changelogs,
        ("table", "retain_max", "retain_min", "older_than", "max_deletes"),
        1,
        {"deleted_changelogs_count": "bigint"},
        "CALL sys.expire_changelogs(table => 'db.t', retain_max => 5).",
    ),
    "rollback": Procedure(
        _roll_back,
        ("table", "version", "snapshot", "tag"),
        1,
        _ROLLED_BACK,
        "CALL sys.rollback(table => 'db.t', version => 'year-end').",
    ),
    "rollback_to_timestamp": Procedure(
        _roll_back_to_time,
        ("table", "timestamp"),
        2,
        _ROLLED_BACK,
        "CALL sys.rollback_to_timestamp(table => 'db.t', timestamp => '2024-01-01 00:00:00').",
    ),
    "rollback_to_watermark": Procedure(
        _roll_back_to_watermark,
        ("table", "watermark"),
        2,
        _ROLLED_BACK,
        "CALL sys.rollback_to_watermark(table => 'db.t', watermark => 1704067200000).",
    ),
    "rollback_to_as_latest": Procedure(
        _roll_back_as_latest,
        ("table", "tag", "snapshot_id"),
        1,
        _ROLLED_BACK,
        "CALL sys.rollback_to_as_latest(table => 'db.t', snapshot_id => 7).",
    ),
    "remove_orphan_files": Procedure(
        _remove_orphans,
        ("table", "older_than", "dry_run"),
        1,
        {"path": "string"},
        "CALL sys.remove_orphan_files(table => 'db.t', older_than => '2024-01-01 00:00:00', dry_run => true).",
        tables=table_or_database,
        besides=_remove_abandoned,
    ),
}
